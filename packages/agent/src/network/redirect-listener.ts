/** Waits on this machine for the redirect that ends a login in the browser (S-171). */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const path = "/callback";

/** Longest address of a redirect. UTF-16 units. */
const MAX_ADDRESS = 8192;

export interface RedirectListener {
  /** The address for the authorization server: `http://127.0.0.1:PORT/callback`. */
  readonly url: string;
  /** Resolves to the first redirect with the right state. */
  readonly redirected: Promise<URLSearchParams>;
  close(): void;
}

/** Listens for a redirect with this `state`. `port`: 0 for any. @throws an error of the system for a used port. */
export async function openRedirectListener(port: number, state: string): Promise<RedirectListener> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const listening = Promise.withResolvers<void>();
  let url = "";
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const given = (request.url ?? "").length <= MAX_ADDRESS ? parseRedirect(`${request.url}`, url, state) : undefined;
    // A page of the web whose host name points to this machine learns nothing.
    const isMeant = given !== undefined && request.method === "GET" && `http://${request.headers.host}${path}` === url;
    response.writeHead(isMeant ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "content-security-policy": "default-src 'none'",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(isMeant ? "Sheaf has the answer. You can close this page.\n" : "Sheaf did not ask for this.\n");
    if (isMeant) resolve(given);
  };
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 }, answer);
  server.maxConnections = 20;
  server.once("error", listening.reject);
  server.listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    url,
    redirected: promise,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the parameters of a redirect; undefined if its address is another one, or it is for another login. */
export function parseRedirect(address: string, redirectUrl: string, state: string): URLSearchParams | undefined {
  const given = URL.parse(address, redirectUrl);
  const wanted = new URL(redirectUrl);
  if (!given || given.origin !== wanted.origin || given.pathname !== wanted.pathname) return undefined;
  const { searchParams } = given;
  return searchParams.getAll("state").length === 1 && searchParams.get("state") === state ? searchParams : undefined;
}
