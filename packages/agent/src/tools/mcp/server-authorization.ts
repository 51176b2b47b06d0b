/** The token of a run for one server: from the user's login, refreshed when it must be (S-170, S-173). */
import {
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  type AuthorizationServerMetadata,
  type AuthProvider,
  type FetchLike,
  type OAuthTokens,
} from "@modelcontextprotocol/client";
import { isKeyText } from "../../config/key-text.ts";
import type { ServerIdentity, ServerLogin, ServerLogins } from "../../config/server-logins.ts";

/** Time that before its end a token is refreshed, at most: a tenth of its life. Milliseconds. */
const MARGIN_MS = 30_000;

export interface AuthorizationPorts {
  readonly logins: ServerLogins;
  /** Reaches what the server may lead to. */
  readonly fetch: FetchLike;
  readonly now: () => number;
}

export interface ServerAuthorization extends AuthProvider {
  /** What must not be shown: the tokens that were used so far. */
  readonly secrets: readonly string[];
}

/** It never opens a browser: without a login that works it fails, and the message names the command that helps. */
export function createServerAuthorization(server: ServerIdentity, ports: AuthorizationPorts): ServerAuthorization {
  const { logins, now } = ports;
  const secrets = new Set<string>();
  let given: string | undefined;

  const isFresh = ({ expiresAt }: ServerLogin): boolean => expiresAt === undefined || expiresAt > now();

  /** Before anything of it is sent: whoever gets it may quote it. */
  const note = (login: ServerLogin): ServerLogin => {
    for (const secret of [login.accessToken, login.refreshToken, login.client.client_secret]) {
      if (secret !== undefined) secrets.add(secret);
    }
    return login;
  };

  /** `old`: the token that does not work any more. */
  const refresh = (old: string): Promise<ServerLogin> =>
    logins.withLock(server, async () => {
      const found = logins.read(server);
      if (!found) throw createLoginError("it needs a login", server);
      const login = note(found);
      // Another process was faster: its refresh token replaced the one that this process knew.
      if (login.accessToken !== old && isFresh(login)) return login;
      const renewed = note(await renewLogin(login, ports));
      logins.write(server, renewed);
      return renewed;
    });

  return {
    get secrets() {
      return [...secrets];
    },
    async token() {
      given = undefined;
      const login = logins.read(server);
      if (!login) return undefined;
      // Without a refresh token the server decides.
      const isUsed = isFresh(login) || login.refreshToken === undefined;
      const { accessToken } = note(isUsed ? login : await refresh(login.accessToken));
      return (given = accessToken);
    },
    async onUnauthorized() {
      if (given === undefined) throw createLoginError("it needs a login", server);
      await refresh(given);
    },
  };
}

const goneProblem = "its login has expired or was revoked";

/** The same login with new tokens. @throws Error with what helps, if anything does. */
async function renewLogin(login: ServerLogin, { fetch, now }: AuthorizationPorts): Promise<ServerLogin> {
  const { expiresAt: _, ...kept } = login;
  const { authorization, client, resource, refreshToken } = kept;
  if (refreshToken === undefined) throw createLoginError(goneProblem, login);
  try {
    const tokens = await refreshAuthorization(authorization.issuer, {
      // As the server wrote it.
      metadata: authorization as AuthorizationServerMetadata,
      clientInformation: client,
      refreshToken,
      fetchFn: fetch,
      ...(resource !== undefined && { resource }),
    });
    return { ...kept, ...toTokenFields(tokens, now()) };
  } catch (cause) {
    if (cause instanceof OAuthError && finalCodes.has(cause.code)) throw createLoginError(goneProblem, login, cause);
    throw new Error(`its login cannot be refreshed now: ${(cause as Error).message}`, { cause });
  }
}

function createLoginError(problem: string, { name }: ServerIdentity, cause?: unknown): Error {
  return new Error(`${problem}: run sheaf mcp login ${name}`, { cause });
}

const finalCodes: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

type TokenFields = Pick<ServerLogin, "accessToken" | "refreshToken" | "expiresAt">;

/** A server that gives no new refresh token keeps the old one. @throws for a token that no header can have. */
export function toTokenFields(
  { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds }: OAuthTokens,
  now: number,
): TokenFields {
  if (![accessToken, refreshToken ?? "-"].every(isKeyText)) throw new Error("it gave a token that cannot be used");
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    // Numbers of JSON may be too large to be one.
    ...(seconds !== undefined &&
      Number.isFinite(seconds) && { expiresAt: now + seconds * 1000 - Math.min(MARGIN_MS, seconds * 100) }),
  };
}
