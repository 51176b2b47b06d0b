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

/** How long before its end a token is refreshed, at most: a tenth of its life. Milliseconds. */
const MARGIN_MS = 30_000;

/** How long other processes may take with it. Milliseconds. */
const LOCK_MS = 60_000;

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
  const advice = `run sheaf mcp login ${server.name}`;
  const secrets = new Set<string>();
  let given: string | undefined;

  const isFresh = ({ expiresAt }: ServerLogin): boolean => expiresAt === undefined || expiresAt > now();

  /** `old`: the token that does not work any more. */
  const refresh = (old: string): Promise<ServerLogin> =>
    logins.withLock(server, AbortSignal.timeout(LOCK_MS), async () => {
      const login = logins.read(server);
      if (!login) throw new Error(`it needs a login: ${advice}`);
      note(login);
      // Another process was faster: its refresh token replaced the one that this process knew.
      if (login.accessToken !== old && isFresh(login)) return login;
      if (login.refreshToken === undefined) throw new Error(`its login has expired or was revoked: ${advice}`);
      const { expiresAt: _, ...kept } = login;
      const renewed = { ...kept, ...(await askForTokens(login, login.refreshToken)) };
      note(renewed);
      logins.write(server, renewed);
      return renewed;
    });

  const askForTokens = async (login: ServerLogin, refreshToken: string): Promise<TokenFields> => {
    const { authorization, client, resource } = login;
    try {
      const tokens = await refreshAuthorization(authorization.issuer, {
        // As the server wrote it.
        metadata: authorization as AuthorizationServerMetadata,
        clientInformation: client,
        refreshToken,
        fetchFn: ports.fetch,
        ...(resource !== undefined && { resource }),
      });
      return toTokenFields(tokens, now());
    } catch (error) {
      const isFinal = error instanceof OAuthError && finalCodes.has(error.code);
      if (isFinal) throw new Error(`its login has expired or was revoked: ${advice}`, { cause: error });
      const { message } = error as Error;
      throw new Error(`its login cannot be refreshed now: ${message}`, { cause: error });
    }
  };

  /** Before anything of it is sent: whoever gets it may quote it. */
  const note = ({ accessToken, refreshToken, client }: ServerLogin): void => {
    for (const secret of [accessToken, refreshToken, client.client_secret]) {
      if (secret !== undefined) secrets.add(secret);
    }
  };

  const use = (login: ServerLogin): string => {
    note(login);
    return (given = login.accessToken);
  };

  return {
    get secrets() {
      return [...secrets];
    },
    async token() {
      const login = logins.read(server);
      if (!login) return (given = undefined);
      if (isFresh(login)) return use(login);
      // Without a refresh token the server decides.
      return use(login.refreshToken === undefined ? login : await refresh(login.accessToken));
    },
    async onUnauthorized() {
      if (given === undefined) throw new Error(`it needs a login: ${advice}`);
      await refresh(given);
    },
  };
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
    ...(seconds !== undefined && { expiresAt: now + seconds * 1000 - Math.min(MARGIN_MS, seconds * 100) }),
  };
}
