/** A tool server that asks for a login, and its authorization server: codes, PKCE, tokens that rotate, revocation. */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type Metadata = Record<string, unknown>;

export interface OauthServerOptions {
  /** Changes what the servers say of themselves. */
  readonly changeResource?: (metadata: Metadata) => Metadata;
  readonly changeAuthorization?: (metadata: Metadata) => Metadata;
  /** Of an access token. */
  readonly seconds?: number;
  /** What it answers to a refresh, in place of tokens. */
  readonly answerRefresh?: (body: Record<string, string>) => [status: number, body: object];
  /** Answers a request in its own way, and returns true. */
  readonly answerInstead?: (path: string, response: ServerResponse) => boolean;
}

export interface OauthServer {
  /** Of the tool server. */
  readonly url: string;
  readonly origin: string;
  /** Bodies of requests for tokens. */
  readonly tokenRequests: Record<string, string>[];
  /** Path and token of requests to the tool server. */
  readonly calls: string[];
  /** Access tokens no longer work. */
  expire(): void;
  /** Refresh tokens do not work either. */
  revokeAll(): void;
  close(): void;
}

/** Listens on 127.0.0.1. */
export async function startOauthServer(options: OauthServerOptions = {}): Promise<OauthServer> {
  const {
    changeResource = (same) => same,
    changeAuthorization = (same) => same,
    seconds = 3600,
    answerRefresh,
    answerInstead,
  } = options;
  const codes = new Map<string, URLSearchParams>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const tokenRequests: Record<string, string>[] = [];
  const calls: string[] = [];
  let origin = "";

  const giveTokens = (): object => {
    const pair = { access_token: `at-${randomUUID()}`, refresh_token: `rt-${randomUUID()}` };
    access.add(pair.access_token);
    refresh.add(pair.refresh_token);
    return { ...pair, token_type: "Bearer", expires_in: seconds };
  };
  const answerToken = (body: URLSearchParams): [status: number, body: object] => {
    tokenRequests.push(Object.fromEntries(body));
    if (body.get("grant_type") === "refresh_token") {
      if (answerRefresh) return answerRefresh(Object.fromEntries(body));
      // A token that is used twice is taken for stolen.
      const isKnown = refresh.delete(body.get("refresh_token") ?? "");
      return isKnown ? [200, giveTokens()] : [400, { error: "invalid_grant" }];
    }
    const asked = codes.get(body.get("code") ?? "");
    codes.delete(body.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      challenge === asked?.get("code_challenge") && body.get("redirect_uri") === asked.get("redirect_uri");
    return isRight ? [200, giveTokens()] : [400, { error: "invalid_grant" }];
  };
  const authorize = (asked: URLSearchParams, response: ServerResponse): void => {
    const code = randomUUID();
    codes.set(code, asked);
    const target = new URL(asked.get("redirect_uri")!);
    target.search = new URLSearchParams({ code, state: asked.get("state") ?? "", iss: origin }).toString();
    response.writeHead(302, { location: target.href }).end();
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    const send = (status: number, body: object, headers = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    };
    const body = await text(request);
    if (answerInstead?.(pathname, response)) return;
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return send(200, changeResource({ resource: `${origin}/mcp`, authorization_servers: [origin] }));
      case "/.well-known/oauth-authorization-server":
        return send(200, changeAuthorization(describe(origin)));
      case "/register":
        return send(201, { ...(JSON.parse(body) as object), client_id: "client-1" });
      case "/authorize":
        return authorize(searchParams, response);
      case "/token":
        return send(...answerToken(new URLSearchParams(body)));
      case "/revoke":
        refresh.delete(new URLSearchParams(body).get("token") ?? "");
        return send(200, {});
      case "/mcp": {
        const token = (request.headers.authorization ?? "").replace("Bearer ", "");
        calls.push(token);
        if (access.has(token)) return answerMcp(body, token, send);
        return send(
          401,
          {},
          { "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` },
        );
      }
      default:
        return send(404, {});
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    tokenRequests,
    calls,
    expire: () => access.clear(),
    revokeAll() {
      access.clear();
      refresh.clear();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function describe(origin: string): Metadata {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
  };
}

/** As much of the protocol as one tool needs, which says what it was sent. */
function answerMcp(body: string, token: string, send: (status: number, body: object) => void): void {
  const { id, method } = JSON.parse(body || "{}") as { id?: number; method?: string };
  const result =
    method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "oauth", version: "1" } }
      : method === "tools/list"
        ? { tools: [{ name: "hello", inputSchema: { type: "object" } }] }
        : { content: [{ type: "text", text: `hello, "${token}"` }] };
  if (id === undefined) send(method === undefined ? 405 : 202, {});
  else send(200, { jsonrpc: "2.0", id, result });
}

/** Follows the page of a login as a browser would, to the redirect. */
export async function openLikeABrowser(address: URL): Promise<URLSearchParams> {
  const { headers } = await fetch(address, { redirect: "manual" });
  return new URL(headers.get("location")!).searchParams;
}
