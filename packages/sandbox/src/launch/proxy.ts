/**
 * The only way from a sandbox to the network: an HTTP proxy outside it (S-32). It checks the parsed host only, resolves
 * it once, and connects to the addresses that it checked. It does not read the bytes of tunnels.
 */
import { lookup } from "node:dns/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { toHost } from "@sheaf/base/host-pattern";
import { isPrivateAddress, isPublicAddress } from "@sheaf/base/public-address";

export interface HostAddress {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** The proxy's ways to decide on hosts and to resolve them; tests use local servers. */
export interface ProxyPorts {
  /** Decides if commands may reach a host, in the form of `toHost`. */
  readonly admit: (host: string) => Promise<HostAdmission>;
  readonly resolveHost?: (host: string) => Promise<readonly HostAddress[]>;
  readonly isAllowed?: ((address: string) => boolean) | undefined;
}

interface HostAdmission {
  /** The reason why commands must not reach the host; "" if they may. */
  readonly obstacle: string;
  /** True if addresses of private networks are allowed as well (S-103). */
  readonly mayBePrivate?: boolean;
}

export interface Proxy {
  /** Serves a connection from inside the sandbox. */
  serve(socket: Socket): void;
  /** Returns one sentence for each host that the proxy refused since the last call. */
  takeNotes(): string[];
  /** Ends every connection. */
  close(): void;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

const maxRefusals = 50;
/** The most sockets, on both sides together: a command must not use up Sheaf's descriptors. */
const maxSockets = 512;
/** Milliseconds. */
const connectTimeout = 20_000;

/** Returns all addresses of a host, or of a literal address; undefined unless all are allowed. */
export async function resolveAllowed(
  host: string,
  resolveHost: (host: string) => Promise<readonly HostAddress[]>,
  isAllowed: (address: string) => boolean,
): Promise<readonly HostAddress[] | undefined> {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(literal);
  const addresses = family === 0 ? await resolveHost(host) : [{ address: literal, family }];
  return addresses.length > 0 && addresses.every(({ address }) => isAllowed(address)) ? addresses : undefined;
}

/** Headers about one connection, which are not forwarded. */
const ownHeaders = new Set([
  "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade", "host",
]); // prettier-ignore

/** Creates a proxy; it does not listen by itself. */
export function createProxy({
  admit,
  resolveHost = (host) => lookup(host, { all: true, verbatim: true }),
  isAllowed = isPublicAddress,
}: ProxyPorts): Proxy {
  const sockets = new Set<Duplex>();
  const refusals = new Map<string, string>();
  const keep = <Kept extends Duplex>(socket: Kept): Kept => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    return socket;
  };

  /** Returns the target. For a refused one, records and returns a sentence with the reason. */
  const openTarget = async (authority: string): Promise<Target | string> => {
    const parsed = parseAuthority(authority);
    if (!parsed) return "it is not a host and port";
    if (isServicePort(parsed.port)) return `port ${parsed.port} is of no web server`;
    const { obstacle, mayBePrivate = false } = await admit(parsed.host);
    if (obstacle !== "") return obstacle;
    let isPrivate = false;
    const found = await resolveAllowed(parsed.host, resolveHost, (address) => {
      if (isAllowed(address)) return true;
      isPrivate = isPrivateAddress(address);
      return mayBePrivate && isPrivate;
    });
    if (found) return { ...parsed, addresses: found.map(({ address }) => address) };
    if (!isPrivate) return "it is not a public host";
    return `it is in a private network, the user passes --allow ${JSON.stringify(`PrivateNetwork(${parsed.host})`)}`;
  };
  const findTarget = async (authority: string): Promise<Target | string> => {
    const target = await openTarget(authority).catch((error: unknown) => `it was not found (${toReason(error)})`);
    if (typeof target === "string" && refusals.size < maxRefusals) {
      const shown = toShown(authority);
      refusals.set(shown, `The network refused ${shown}: ${target}.`);
    }
    return target;
  };

  // An `import` would load all exports of the module, including `WebSocket`, and slow each start by 25 ms.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    void forward(request, response, findTarget);
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void openTunnel(request.url ?? "", keep(socket), head, findTarget, keep);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  return {
    serve(socket) {
      if (sockets.size >= maxSockets) return void socket.destroy();
      keep(socket);
      server.emit("connection", socket);
    },
    takeNotes() {
      const taken = [...refusals.values()];
      refusals.clear();
      return taken;
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

type FindTarget = (authority: string) => Promise<Target | string>;

/** Serves `CONNECT host:port`: passes bytes in both directions, unread. */
async function openTunnel(
  authority: string,
  client: Duplex,
  head: Buffer,
  findTarget: FindTarget,
  keep: (socket: Socket) => Socket,
): Promise<void> {
  const target = await findTarget(authority);
  if (typeof target === "string") {
    const body = toRefusalText(authority, target);
    client.end(
      `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    return;
  }
  const upstream = await connectFirst(target);
  if (!upstream) {
    client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  keep(upstream);
  if (client.destroyed) return void upstream.destroy();
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (head.length > 0) upstream.write(head);
  upstream.pipe(client);
  client.pipe(upstream);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
}

/** Connects to the first address that answers; undefined if none answers. */
async function connectFirst({ addresses, port }: Target): Promise<Socket | undefined> {
  for (const host of addresses) {
    const socket = await connectOnce(host, port);
    if (socket) return socket;
  }
  return undefined;
}

async function connectOnce(host: string, port: number): Promise<Socket | undefined> {
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
  const socket = connect({ host, port });
  const giveUp = (): void => {
    socket.destroy();
    resolve(undefined);
  };
  socket.setTimeout(connectTimeout, giveUp);
  socket.once("error", giveUp);
  socket.once("connect", () => {
    socket.setTimeout(0);
    socket.off("error", giveUp);
    resolve(socket);
  });
  return promise;
}

/**
 * Forwards a plain HTTP request, which has the whole address in its first line. The proxy writes a new one from the
 * parsed parts, so that no form can hide another request.
 */
async function forward(request: IncomingMessage, response: ServerResponse, findTarget: FindTarget): Promise<void> {
  const address = request.url ?? "";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const host = url?.protocol === "http:" ? toHost(address) : undefined;
  const authority = host === undefined ? address : `${host}:${url!.port || 80}`;
  const target = host === undefined ? "it is not a plain http address" : await findTarget(authority);
  if (typeof target === "string" || !url) {
    const body = toRefusalText(authority, typeof target === "string" ? target : "");
    response.writeHead(403, { "content-type": "text/plain", connection: "close" }).end(body);
    return;
  }
  const upstream = process.getBuiltinModule("node:http").request({
    host: target.addresses[0],
    port: target.port,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers: { ...toForwarded(request), host: url.host, connection: "close" },
    agent: false,
    timeout: connectTimeout,
  });
  upstream.on("timeout", () => upstream.destroy());
  upstream.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { connection: "close" }).end();
  });
  upstream.on("response", (answer) => {
    answer.on("error", () => response.destroy());
    response.writeHead(answer.statusCode ?? 502, toForwarded(answer));
    answer.pipe(response);
  });
  request.on("error", () => upstream.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

function toForwarded(message: IncomingMessage): Record<string, string | string[]> {
  const named = (message.headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const entries = Object.entries(message.headers).filter(
    ([name, value]) => value !== undefined && !ownHeaders.has(name) && !named.includes(name),
  );
  return Object.fromEntries(entries) as Record<string, string | string[]>;
}

/** Parses `host:port`, and returns the host in the form of rules; undefined for a text that could hide another host. */
export function parseAuthority(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, name, digits] = /^(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9_.-]{1,253}):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = name === undefined ? undefined : toHost(`http://${name}/`);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Ports of other services, which do not speak HTTP, such as mail, shells and name servers. */
export function isServicePort(port: number): boolean {
  return port < 1024 && port !== 80 && port !== 443;
}

function toRefusalText(target: string, reason: string): string {
  return `Sheaf's sandbox refuses ${toShown(target)}: ${reason}.\n`;
}

/** Shortens a command's text to one line of printable characters. */
function toShown(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, 200);
}

function toReason(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
