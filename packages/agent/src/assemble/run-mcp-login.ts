/** `sheaf mcp login` and `logout`, with the tools, network and files that they use. Only these commands load it. */
import { randomBytes } from "node:crypto";
import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import { SheafError } from "@sheaf/base/errors";
import { untilAborted } from "@sheaf/base/until-aborted";
import type { Environment } from "@sheaf/base/paths";
import type { HttpServerSettings } from "../config/mcp-settings.ts";
import { createServerLogins, type ServerLogin } from "../config/server-logins.ts";
import { chooseProxy, findProxy } from "../config/proxy.ts";
import { createCheckedFetch } from "../network/checked-fetch.ts";
import { openRedirectListener, parseRedirect } from "../network/redirect-listener.ts";
import { toLine } from "@sheaf/base/files/read-folder";
import { logInToServer, type LoginChallenge } from "../tools/mcp/server-login.ts";

/** Time that a person may take. Milliseconds. */
const LOGIN_MS = 10 * 60 * 1000;

/** Time that a server may take to answer, and one to revoke a token. Milliseconds. */
const ANSWER_MS = 30_000;

export interface McpLoginRequest {
  readonly name: string;
  readonly settings: HttpServerSettings;
  readonly environment: Environment;
}

export interface LoginPerson {
  /** Shows the address. */
  readonly show: (address: URL) => void;
  /** Addresses that the person pastes, one after another; undefined: pasting is impossible. It ends with the input. */
  readonly pasted: AsyncIterable<string> | undefined;
  /** Called for a pasted text that is not the address of this login. */
  readonly refuse: () => void;
}

/** Keeps the login. @throws SheafError AUTH_REJECTED, CONFIG_INVALID, CANCELLED; the signal's reason. */
export async function openMcpLogin(request: McpLoginRequest, person: LoginPerson, signal: AbortSignal): Promise<void> {
  const { name, environment } = request;
  const { url, oauth = {} } = request.settings;
  // One fetch for all requests: the addresses at which the server answered decide where it may lead.
  const fetch = createLoginFetch(url, environment);
  const challenge = await findChallenge(request, fetch, signal);
  const state = randomBytes(32).toString("base64url");
  const listener = await openRedirectListener(oauth.redirectPort ?? 0, state).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    const message = `the port ${oauth.redirectPort} of the login to ${name} cannot be used (${code}): choose another redirectPort`;
    throw new SheafError("CONFIG_INVALID", message, { cause });
  });
  const late = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
  try {
    const askUser = async (address: URL): Promise<URLSearchParams> => {
      person.show(address);
      const pasted = person.pasted ? [readPasted(person, listener.url, state)] : [];
      return untilAborted(Promise.race([listener.redirected, ...pasted]), late).catch((error: unknown) => {
        if (!late.aborted || error instanceof SheafError) throw error;
        throw new SheafError("CANCELLED", `no login within ${LOGIN_MS / 60_000} minutes: start it again`, {
          source: "user",
        });
      });
    };
    const redirectUrl = listener.url;
    const login = await logInToServer(
      { name, url, oauth, challenge, redirectUrl, state },
      { fetch, askUser, now: Date.now },
    );
    const logins = createServerLogins(environment);
    await logins.withLock(login, async () => logins.write(login, login), signal);
  } finally {
    listener.close();
  }
}

/** Removes all logins to a server of this name, and asks for their revocation. Returns false if it had no login. */
export async function endServerLogin(name: string, environment: Environment, signal: AbortSignal): Promise<boolean> {
  const logins = createServerLogins(environment);
  const found = logins.list().filter((login) => login.name === name);
  for (const { url } of found) {
    const server = { name, url };
    const login = await logins.withLock(
      server,
      async () => {
        // A run may have refreshed it meanwhile: its newest token is the one to revoke.
        const newest = logins.read(server);
        logins.write(server, undefined);
        return newest;
      },
      signal,
    );
    if (login) await revoke(login, environment).catch(() => undefined);
  }
  return found.length > 0;
}

/** Revokes a token (RFC 7009). Sheaf forgets the login even if this fails. */
async function revoke(login: ServerLogin, environment: Environment): Promise<void> {
  const { url, authorization, client, accessToken, refreshToken } = login;
  const endpoint = authorization.revocation_endpoint;
  if (endpoint === undefined) return;
  const body = new URLSearchParams({ token: refreshToken ?? accessToken, ...client });
  const signal = AbortSignal.timeout(ANSWER_MS);
  await createLoginFetch(url, environment)(endpoint, { method: "POST", body, signal });
}

/** A fetch for the login to a server. @throws SheafError CONFIG_INVALID for a proxy without an address. */
export function createLoginFetch(url: string, environment: Environment): ReturnType<typeof createCheckedFetch> {
  return createCheckedFetch(url, { findProxy: (target) => chooseProxy(findProxy(environment), target) });
}

/** Some servers want a token for a connection, others for later requests; MCP 2026-07-28 has no connections. */
const methods = ["initialize", "tools/list", "server/discover"];

const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "sheaf", version: "0" } };

/** The server's answer without a token, which may have the address of its authorization. */
async function findChallenge(
  { name, settings }: McpLoginRequest,
  fetch: ReturnType<typeof createLoginFetch>,
  signal: AbortSignal,
): Promise<LoginChallenge> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    for (const method of methods) {
      const response = await fetch(settings.url, {
        method: "POST",
        headers: {
          ...settings.headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 0, method, params }),
        signal: late,
      });
      await response.body?.cancel();
      if (!response.headers.has("www-authenticate")) continue;
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
    }
    return {};
  } catch (cause) {
    signal.throwIfAborted();
    const { message: said, code = "" } = cause as NodeJS.ErrnoException;
    const reason = toLine((said || code).slice(0, 300));
    const message = `the MCP server ${name} cannot be reached (${reason}): check its address with sheaf mcp list`;
    throw new SheafError("NETWORK", message, { cause, source: "server" });
  }
}

async function readPasted({ pasted, refuse }: LoginPerson, url: string, state: string): Promise<URLSearchParams> {
  for await (const line of pasted!) {
    const given = parseRedirect(line.trim(), url, state);
    if (given) return given;
    if (line.trim() !== "") refuse();
  }
  throw new SheafError("CANCELLED", "no address before the end of the input: try again", {
    source: "user",
  });
}
