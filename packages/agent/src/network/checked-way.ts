/** Requests to addresses that were checked before. */
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import type { HostAddress } from "@sheaf/sandbox/launch/proxy";
import { openTunnel } from "./proxy-tunnel.ts";

/** The way a request reaches a checked address: the name is never resolved again, so it cannot mean another one. */
export type NetworkWay =
  | { readonly lookup: LookupFunction; readonly agent: false }
  // Node would ignore it if it got an agent.
  | { readonly createConnection: () => Socket };

export function toDirectWay(addresses: readonly HostAddress[]): NetworkWay {
  return {
    agent: false,
    lookup: (_host, options, callback) => {
      if (options.all) callback(null, [...addresses]);
      else callback(null, addresses[0]!.address, addresses[0]!.family);
    },
  };
}

/** Opens a tunnel to an address. A proxy that got the name would resolve it itself, perhaps to another host. */
export async function openTunneledWay(
  url: URL,
  addresses: readonly HostAddress[],
  proxy: string,
  signal: AbortSignal,
): Promise<NetworkWay> {
  const isSecure = url.protocol === "https:";
  const { address, family } = addresses.find((found) => found.family === 4) ?? addresses[0]!;
  const authority = `${family === 6 ? `[${address}]` : address}:${url.port || (isSecure ? 443 : 80)}`;
  const tunnel = await openTunnel(proxy, authority, signal);
  const isName = isIP(url.hostname.replace(/^\[(.*)\]$/, "$1")) === 0;
  const settings = { socket: tunnel, host: address, ...(isName && { servername: url.hostname }) };
  return { createConnection: () => (isSecure ? connectSecure(settings) : tunnel) };
}

interface RequestOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Sends a request, and resolves with the head of the answer. Does not follow redirects. */
export function sendRequest(
  url: URL,
  way: NetworkWay,
  { method, headers, body, signal }: RequestOptions,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { method, headers: { ...headers }, ...way, signal, maxHeaderSize: 64 * 1024 };
  const request = url.protocol === "https:" ? requestSecure(url, options) : requestPlain(url, options);
  request.once("response", resolve);
  request.on("error", reject);
  request.end(body);
  return promise;
}
