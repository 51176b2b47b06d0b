/** The proxy of outgoing requests, by the variables that other programs read too. Never from a workspace (S-01). */
import { SheafError } from "../errors.ts";
import type { ProxyVariables } from "../providers/endpoint.ts";
import type { Environment } from "./paths.ts";

/** Servers of this machine are reached without a proxy. */
const ownHosts = "localhost,127.0.0.1,::1,[::1]";

/** Undefined where no proxy is named. @throws SheafError CONFIG_INVALID for an address that is none; it is not shown (S-42). */
export function findProxy(environment: Environment): ProxyVariables | undefined {
  const http = findAddress(environment, "HTTP_PROXY");
  const https = findAddress(environment, "HTTPS_PROXY");
  if (http === undefined && https === undefined) return undefined;
  const others = findValue(environment, "NO_PROXY");
  return {
    ...(http !== undefined && { HTTP_PROXY: http }),
    ...(https !== undefined && { HTTPS_PROXY: https }),
    NO_PROXY: others === undefined ? ownHosts : `${others},${ownHosts}`,
  };
}

function findAddress(environment: Environment, name: string): string | undefined {
  const value = findValue(environment, name);
  if (value === undefined) return undefined;
  const address = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (address && /^https?:$/.test(address.protocol) && address.hostname !== "") return address.href;
  throw new SheafError("CONFIG_INVALID", `${name} names no proxy: write http://HOST:PORT, or leave it out`);
}

/** In small letters it wins, as in other programs. */
function findValue(environment: Environment, name: string): string | undefined {
  return environment[name.toLowerCase()] || environment[name] || undefined;
}
