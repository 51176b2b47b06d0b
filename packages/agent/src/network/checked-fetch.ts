/** `fetch` for addresses from a server: it never reaches a network that the server itself is not in (S-172). */
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { isOwnAddress, isPrivateAddress, isPublicAddress } from "@sheaf/base/public-address";
import { untilAborted } from "@sheaf/base/until-aborted";
import { openTunneledWay, sendRequest, toDirectWay } from "./checked-way.ts";
import { type HostAddress, isServicePort, resolveAllowed } from "@sheaf/sandbox/launch/proxy";

/** Longest answer. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** Time for one request. Milliseconds. */
const TIMEOUT_MS = 30_000;

export interface CheckedFetchPorts {
  /** Returns the address of the proxy for a URL; undefined: no proxy. @throws SheafError CONFIG_INVALID. */
  readonly findProxy: (url: URL) => string | undefined;
  readonly resolveHost?: (host: string) => Promise<readonly HostAddress[]>;
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates the `fetch`. A server on this machine may refer to this machine, private networks and public hosts, a server
 * in a private network to private networks and public hosts, any other to public hosts only. Other machines need https.
 * It resolves a host once, and connects to the addresses that it checked. It does not follow redirects, and fails with
 * an Error that contains the host.
 */
export function createCheckedFetch(serverUrl: string, ports: CheckedFetchPorts): Fetch {
  const { resolveHost: look = (host: string) => lookup(host, { all: true, verbatim: true }) } = ports;
  const known = new Map<string, Promise<readonly HostAddress[]>>();
  // A name that resolves to another address each time would pass every check.
  const resolveHost = (host: string): Promise<readonly HostAddress[]> => {
    const found = known.get(host) ?? look(host);
    known.set(host, found);
    found.catch(() => known.delete(host));
    return found;
  };
  let reach: Promise<(address: string) => boolean> | undefined;
  return async (input, init = {}) => {
    const url = new URL(input);
    reach ??= findReach(new URL(serverUrl), resolveHost);
    const problem = findProblem(url);
    if (problem !== undefined) throw createRefusal(url, problem);
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(init.signal ? [init.signal] : [])]);
    const addresses = await untilAborted(resolveAllowed(toName(url), resolveHost, await reach), signal);
    if (!addresses) throw createRefusal(url, "it is in a network that the server must not use");
    const isHere = addresses.every(({ address }) => isOwnAddress(address));
    if (url.protocol === "http:" && !isHere) throw createRefusal(url, "the address does not start with https://");
    const proxy = isHere ? undefined : ports.findProxy(url);
    const way = proxy === undefined ? toDirectWay(addresses) : await openTunneledWay(url, addresses, proxy, signal);
    const request = new Request(url, { ...init, signal });
    const body = await request.text();
    const headers = {
      ...Object.fromEntries(request.headers),
      host: url.host,
      ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }),
    };
    return toResponse(await sendRequest(url, way, { method: request.method, headers, body, signal }), url);
  };
}

/** Returns the addresses that the server's own addresses allow. */
async function findReach(
  server: URL,
  resolveHost: (host: string) => Promise<readonly HostAddress[]>,
): Promise<(address: string) => boolean> {
  const isInner = (address: string): boolean => isPublicAddress(address) || isPrivateAddress(address);
  const isAny = (address: string): boolean => isInner(address) || isOwnAddress(address);
  // These names alone mean this machine wherever they are looked up.
  const name = toName(server);
  if (isOwnAddress(name) || name === "localhost" || name.endsWith(".localhost")) return isAny;
  const found = await resolveAllowed(name, resolveHost, isPrivateAddress).catch(() => undefined);
  return found ? isInner : isPublicAddress;
}

function toName({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

function findProblem({ protocol, username, password, port }: URL): string | undefined {
  if (protocol !== "https:" && protocol !== "http:") return "it is not an address of the web";
  if (username !== "" || password !== "") return "the address contains a name or a password";
  return port !== "" && isServicePort(Number(port)) ? `port ${port} is of no web server` : undefined;
}

function createRefusal({ origin }: URL, problem: string): Error {
  return new Error(`${origin.slice(0, 200)} is not reached: ${problem}`);
}

/** Statuses of answers without a body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

async function toResponse(message: IncomingMessage, url: URL): Promise<Response> {
  const { statusCode: status = 502, headers: given } = message;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`${url.origin} sends more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const part of [value ?? []].flat()) headers.append(name, part);
  }
  return new Response(bodiless.has(status) ? null : Buffer.concat(chunks), { status, headers });
}
