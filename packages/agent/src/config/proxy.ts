/** The proxy of outgoing requests, by the variables that other programs read too. Never from a workspace (S-01). */
import { SheafError } from "@sheaf/base/errors";
import type { ProxyVariables } from "@sheaf/models/endpoint";
import type { Environment } from "@sheaf/base/paths";

/** Servers of this machine need no proxy. */
const ownHosts = "localhost,127.0.0.1,::1,[::1]";

/** Undefined without a proxy. @throws SheafError CONFIG_INVALID for an invalid address; the message hides it (S-42). */
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

/** The proxy for an address; undefined: a direct connection. NO_PROXY as Node reads it, names only. */
export function chooseProxy(proxy: ProxyVariables | undefined, { protocol, hostname, port }: URL): string | undefined {
  const isSecure = protocol === "https:";
  const address = isSecure ? proxy?.HTTPS_PROXY : proxy?.HTTP_PROXY;
  if (!proxy || address === undefined) return undefined;
  const place = `${hostname}:${port || (isSecure ? 443 : 80)}`;
  const isDirect = proxy.NO_PROXY.toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => entry === "*" || entry === hostname || entry === place || isSuffix(entry, hostname));
  return isDirect ? undefined : address;
}

/** `.example.org` and `*.example.org`. */
function isSuffix(entry: string, hostname: string): boolean {
  return /^\*?\../.test(entry) && hostname.endsWith(entry.replace("*", ""));
}

function findAddress(environment: Environment, name: string): string | undefined {
  const value = findValue(environment, name);
  if (value === undefined) return undefined;
  const address = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (!address || !/^https?:$/.test(address.protocol) || address.hostname === "") {
    throw new SheafError(
      "CONFIG_INVALID",
      `${name} is not the address of a proxy: write http://HOST:PORT, or leave it out`,
    );
  }
  // Otherwise every request would fail as if the proxy were down, and be repeated.
  if (!canDecode(address.username) || !canDecode(address.password)) {
    throw new SheafError("CONFIG_INVALID", `${name} has a % in its name or password: write each % of them as %25`);
  }
  return address.href;
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The lower-case name takes precedence, as in other programs. */
function findValue(environment: Environment, name: string): string | undefined {
  return environment[name.toLowerCase()] || environment[name] || undefined;
}
