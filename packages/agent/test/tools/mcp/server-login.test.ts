import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  openLikeABrowser,
  startOauthServer,
  type OauthServerOptions,
} from "../../../../../test/support/oauth-server.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createServerLogins, type ServerLogin } from "../../../src/config/server-logins.ts";
import { createCheckedFetch } from "../../../src/network/checked-fetch.ts";
import { createServerAuthorization } from "../../../src/tools/mcp/server-authorization.ts";
import { createServerConnection } from "../../../src/tools/mcp/server-connection.ts";
import { logInToServer, type LoginRequest } from "../../../src/tools/mcp/server-login.ts";
import { toProblem } from "../../../src/tools/mcp/server-problem.ts";
import { createToolServer, type ToolServer } from "../../../src/tools/mcp/tool-server.ts";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";

/** 100 MB, if the client reads them. */
function answerForever(path: string, response: ServerResponse): boolean {
  if (path !== "/.well-known/oauth-authorization-server") return false;
  response.writeHead(200, { "content-type": "application/json" });
  Readable.from(Array.from({ length: 1600 }, () => Buffer.alloc(64 * 1024, " "))).pipe(response);
  return true;
}

/** A server, a folder for logins, and a clock that is turned by hand. */
async function createPlace(options: OauthServerOptions = {}) {
  const server = await startOauthServer(options);
  const folder = createTemporaryFolder();
  onTestFinished(() => server.close());
  const logins = createServerLogins({ SHEAF_HOME: folder });
  const clock = { time: 1_000_000 };
  const identity = { name: "demo", url: server.url };
  const now = (): number => clock.time;
  const fetch = createCheckedFetch(server.url, { findProxy: () => undefined });
  const logIn = async (
    request: Partial<LoginRequest> = {},
    askUser: (address: URL) => Promise<URLSearchParams> = openLikeABrowser,
  ): Promise<ServerLogin> => {
    const redirectUrl = "http://127.0.0.1:1/callback";
    const whole = { ...identity, oauth: {}, challenge: {}, redirectUrl, state: "state-1", ...request };
    const login = await logInToServer(whole, { fetch, askUser, now });
    logins.write(identity, login);
    return login;
  };
  const authorize = () => createServerAuthorization(identity, { logins, fetch, now });
  /** The tools that a run would find, or why not. */
  const listTools = async (): Promise<string> => {
    const settings = { url: server.url };
    const ports = { workspace: "/w", addedFolders: [], environment: {}, openFetch: async () => undefined };
    const connection = createServerConnection("demo", settings, {
      ...ports,
      openAuthorization: async () => authorize(),
      desk: { answer: async () => ({ action: "decline" }) },
    });
    try {
      await connection.connect({});
      return (await connection.client.listTools()).tools.map(({ name }) => name).join();
    } catch (error) {
      return (error as Error).message;
    } finally {
      await connection.close();
    }
  };
  return { server, folder, logins, clock, identity, logIn, authorize, listTools };
}

describe("a login", () => {
  test(verifies(["C100", "S-170", "S-171"], "is kept for its server alone, and a run uses it"), async () => {
    const { server, folder, logins, identity, logIn, listTools } = await createPlace();
    expect(await listTools()).toBe("it needs a login: run sheaf mcp login demo");
    let asked: URLSearchParams | undefined;
    const login = await logIn({}, (address) => {
      asked = address.searchParams;
      return openLikeABrowser(address);
    });
    expect(Object.fromEntries(asked!)).toMatchObject({
      code_challenge_method: "S256",
      state: "state-1",
      resource: server.url,
      redirect_uri: "http://127.0.0.1:1/callback",
    });
    expect(server.tokenRequests[0]).toMatchObject({ resource: server.url, client_id: "client-1" });
    expect(await listTools()).toBe("hello");
    const [file] = readdirSync(join(folder, "mcp-logins"));
    expect(statSync(join(folder, "mcp-logins", file!)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "mcp-logins", file!), "utf8")).toContain(login.accessToken);
    expect(logins.read({ name: "demo", url: "https://elsewhere.example/mcp" })).toBeUndefined();
    expect(logins.read({ ...identity, name: "other" })).toBeUndefined();
  });

  const hostile: readonly [string, OauthServerOptions, RegExp][] = [
    [
      "describes another server",
      { changeResource: (same) => ({ ...same, resource: "https://bank.example/" }) },
      /another server/,
    ],
    [
      "has no PKCE",
      { changeAuthorization: (same) => ({ ...same, code_challenge_methods_supported: undefined }) },
      /PKCE/,
    ],
    [
      "names another issuer",
      { changeAuthorization: (same) => ({ ...same, issuer: "https://evil.example" }) },
      /issuer/i,
    ],
    [
      "leads the browser to a file",
      { changeAuthorization: (same) => ({ ...same, authorization_endpoint: "file:///etc/passwd" }) },
      /strange address|not found/,
    ],
    [
      "sends tokens in the open",
      { changeAuthorization: (same) => ({ ...same, registration_endpoint: "http://example.org/register" }) },
      /does not register/,
    ],
    [
      "names the metadata service of a cloud as its authorization server",
      { changeResource: (same) => ({ ...same, authorization_servers: ["http://169.254.169.254/"] }) },
      /not found: http:\/\/169\.254\.169\.254 is not reached: it is in a network/,
    ],
    [
      "registers clients at the metadata service of a cloud",
      { changeAuthorization: (same) => ({ ...same, registration_endpoint: "https://169.254.169.254/latest" }) },
      /does not register Sheaf: https:\/\/169\.254\.169\.254 is not reached/,
    ],
    [
      "gives tokens at the metadata service of a cloud",
      { changeAuthorization: (same) => ({ ...same, token_endpoint: "https://169.254.169.254/latest" }) },
      /gave no token: https:\/\/169\.254\.169\.254 is not reached/,
    ],
    [
      "gives tokens on another machine without https",
      { changeAuthorization: (same) => ({ ...same, token_endpoint: "http://10.0.0.1/token" }) },
      /gave no token: /,
    ],
    ["never ends its description", { answerInstead: answerForever }, /sends more than 1048576 bytes/],
    [
      "redirects the request for a token to another origin",
      {
        answerInstead(path, response) {
          const location = `http://localhost:${response.socket?.localPort}/token`;
          if (path === "/token") response.writeHead(307, { location }).end();
          return path === "/token";
        },
      },
      /gave no token: HTTP 307/,
    ],
  ];
  test.each(hostile)(verifies("S-171", "is refused by Sheaf where the server %s"), async (_, options, reason) => {
    const { logIn, server } = await createPlace(options);
    await expect(logIn()).rejects.toMatchObject({
      code: "AUTH_REJECTED",
      message: expect.stringMatching(reason) as string,
    });
    expect(server.tokenRequests).toEqual([]);
  });

  test(verifies("S-172", "says what it did not reach"), async () => {
    const { logIn } = await createPlace({
      changeResource: (same) => ({ ...same, authorization_servers: ["http://10.0.0.1/"] }),
    });
    await expect(logIn()).rejects.toThrow("http://10.0.0.1 is not reached: the address does not start with https://");
  });

  test(verifies("S-171", "needs the issuer that was asked, and shows nothing of a refusal but its code"), async () => {
    const { logIn, server } = await createPlace();
    const withIssuer = async (address: URL): Promise<URLSearchParams> => {
      const answer = await openLikeABrowser(address);
      answer.set("iss", "https://evil.example");
      return answer;
    };
    await expect(logIn({}, withIssuer)).rejects.toThrow(/gave no token/);
    const refuse = async () => new URLSearchParams({ error: "access_denied", error_description: "CANARY" });
    await expect(logIn({}, refuse)).rejects.toThrow(/^no login to the MCP server demo: .*\(access_denied\)$/);
    expect(server.tokenRequests).toEqual([]);
  });

  test(verifies("C100", "uses the client and the rights of the settings"), async () => {
    const { logIn, server } = await createPlace();
    let scope: string | null = "";
    await logIn({ oauth: { clientId: "mine", scope: "read write" } }, (address) => {
      scope = address.searchParams.get("scope");
      return openLikeABrowser(address);
    });
    expect(scope).toBe("read write");
    expect(server.tokenRequests[0]).toMatchObject({ client_id: "mine" });
  });
});

describe("a token", () => {
  test(verifies(["C100", "S-170"], "that has expired, here or at the server, is refreshed by itself"), async () => {
    const { server, clock, logIn, listTools } = await createPlace();
    await logIn();
    clock.time += 3_600_000;
    expect(await listTools()).toBe("hello");
    server.expire();
    expect(await listTools()).toBe("hello");
    expect(server.tokenRequests.map(({ grant_type: type }) => type)).toEqual([
      "authorization_code",
      "refresh_token",
      "refresh_token",
    ]);
  });

  test(verifies(["C100", "S-41"], "that was revoked fails, and the message names the command that helps"), async () => {
    const { server, logIn, listTools, authorize } = await createPlace();
    const { accessToken } = await logIn();
    server.revokeAll();
    expect(await listTools()).toBe("its login has expired or was revoked: run sheaf mcp login demo");
    const authorization = authorize();
    await authorization.token();
    expect(authorization.secrets).toContain(accessToken);
  });

  test(verifies(["S-170", "S-220"], "is hidden where the server quotes it"), async () => {
    const { server, logIn, authorize } = await createPlace();
    await logIn();
    const ports = { workspace: "/w", addedFolders: [], environment: {}, openFetch: async () => undefined };
    const openAuthorization = async () => authorize();
    const tools = createToolServer("demo", { url: server.url }, { ...ports, openAuthorization });
    onTestFinished(() => tools.close());
    const { result } = await tools.callTool("hello", {}, { signal: new AbortController().signal });
    expect(result.content).toEqual([{ type: "text", text: 'hello, "[key]"' }]);
  });

  test(verifies("S-220", "is hidden where the authorization server quotes it"), async () => {
    const { server, clock, logIn, authorize } = await createPlace({ answerRefresh: (body) => [500, body] });
    const { refreshToken } = await logIn();
    clock.time += 3_600_000;
    const authorization = authorize();
    const error = await Promise.resolve(authorization.token()).catch((fault: unknown) => fault);
    expect(String(error)).toContain(refreshToken);
    const shown = toProblem(error, {
      name: "demo",
      settings: { url: server.url },
      secrets: authorization.secrets,
    } as unknown as ToolServer);
    expect(shown).toMatch(/^its login cannot be refreshed now: /);
    expect(shown).not.toContain(refreshToken);
  });

  test(verifies("S-220", "that no header can have does not take the place of a login"), async () => {
    const answerRefresh = (): [number, object] => [200, { access_token: "a\r\nb", token_type: "Bearer" }];
    const { clock, logins, identity, logIn, listTools } = await createPlace({ answerRefresh });
    const login = await logIn();
    clock.time += 3_600_000;
    expect(await listTools()).toBe("its login cannot be refreshed now: it gave a token that cannot be used");
    expect(logins.read(identity)).toEqual(login);
  });

  test(verifies("S-173", "is refreshed once, however many ask at the same time"), async () => {
    const { server, clock, logins, identity, logIn, authorize } = await createPlace();
    await logIn();
    clock.time += 3_600_000;
    const tokens = await Promise.all(Array.from({ length: 8 }, () => authorize().token()));
    expect(new Set(tokens)).toEqual(new Set([logins.read(identity)?.accessToken]));
    // The server takes a second use of a refresh token for a theft, and refuses it.
    expect(server.tokenRequests).toHaveLength(2);
  });
});
