/** The way to an address through a proxy outside of the machine: `CONNECT`. */
import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";

/** The reason why a proxy refuses; in one line, without its address, which may contain a password (S-42). */
export class TunnelError extends Error {}

/**
 * Opens a tunnel to `authority` (host and port). `proxy`: http or https. @throws TunnelError, or the signal's reason.
 */
export async function openTunnel(proxy: string, authority: string, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const isSecure = protocol === "https:";
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const request = (isSecure ? requestSecure : requestPlain)({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port || (isSecure ? 443 : 80),
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...(username !== "" && { "proxy-authorization": `Basic ${credentials}` }) },
    agent: false,
    signal,
  });
  request.once("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket, head: Buffer) => {
    if (statusCode < 200 || statusCode > 299 || signal.aborted) {
      socket.destroy();
      reject(new TunnelError(`the proxy refuses ${authority} with status ${statusCode}`));
      return;
    }
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  request.on("error", (error: NodeJS.ErrnoException) => {
    reject(new TunnelError(`the proxy does not answer (${error.code ?? "no answer"})`, { cause: error }));
  });
  request.end();
  return promise;
}
