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

/** Longest time before its end at which Sheaf refreshes a token, else a tenth of its life. Milliseconds. */
const MARGIN_MS = 30_000;

export interface AuthorizationPorts {
  readonly logins: ServerLogins;
  /** Reaches only addresses to which the server may refer. */
  readonly fetch: FetchLike;
  readonly now: () => number;
}

export interface ServerAuthorization extends AuthProvider {
  /** The tokens that Sheaf used so far, which no output may contain. */
  readonly secrets: readonly string[];
}

/** Creates the authorization. It never opens a browser: it fails with the command that helps if no login works. */
export function createServerAuthorization(server: ServerIdentity, ports: AuthorizationPorts): ServerAuthorization {
  const { logins, now } = ports;
  const secrets = new Set<string>();
  let given: string | undefined;

  const isFresh = ({ expiresAt }: ServerLogin): boolean => expiresAt === undefined || expiresAt > now();

  /** Notes a login's secrets before Sheaf sends any of them, since a server may quote them. */
  const note = (login: ServerLogin): ServerLogin => {
    for (const secret of [login.accessToken, login.refreshToken, login.client.client_secret]) {
      if (secret !== undefined) secrets.add(secret);
    }
    return login;
  };

  /** Refreshes a login whose token `old` does not work any more. */
  const refresh = (old: string): Promise<ServerLogin> =>
    logins.withLock(server, async () => {
      const found = logins.read(server);
      if (!found) throw createLoginError("it needs a login", server);
      const login = note(found);
      // Another process was faster: its refresh token replaced this process's.
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
      // The server decides about a token that Sheaf cannot refresh.
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

/** Returns the login with new tokens. @throws Error, with advice if there is any. */
async function renewLogin(login: ServerLogin, { fetch, now }: AuthorizationPorts): Promise<ServerLogin> {
  const { expiresAt: _, ...kept } = login;
  const { authorization, client, resource, refreshToken } = kept;
  if (refreshToken === undefined) throw createLoginError(goneProblem, login);
  try {
    const tokens = await refreshAuthorization(authorization.issuer, {
      // Sheaf stored the server's metadata unchanged.
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

/** Converts a server's tokens; the old refresh token stays if it sent no new one. @throws if a token fits no header. */
export function toTokenFields(
  { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds }: OAuthTokens,
  now: number,
): TokenFields {
  if (![accessToken, refreshToken ?? "-"].every(isKeyText)) throw new Error("it gave a token that cannot be used");
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    // A number of JSON may be too large for JavaScript.
    ...(seconds !== undefined &&
      Number.isFinite(seconds) && { expiresAt: now + seconds * 1000 - Math.min(MARGIN_MS, seconds * 100) }),
  };
}
