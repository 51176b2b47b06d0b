/** Logins to tool servers: one private file for each, by the name and the address of its server (S-170). */
import { hash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { listProblems, parseJson } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { toDataFolder, type Environment } from "@sheaf/base/paths";
import { holdFileLock } from "@sheaf/base/file-lock";
import { isKeyText } from "./key-text.ts";
import { createDamageError, readPrivateFile, writePrivateFile, type PrivateFile } from "./private-file.ts";

const key = s.refine(s.string(), "a key", isKeyText);
const text = s.string({ maxLength: 4096 });

const serverLogin = s.object({
  version: s.literal("1"),
  name: text,
  /** The server that gets the tokens; only the endpoints below may get them as well. */
  url: text,
  /** The authorization server's own data at the login; Sheaf does not ask for them again. */
  authorization: s.open(s.object({ issuer: text, token_endpoint: text, revocation_endpoint: s.optional(text) })),
  /** Resource indicator (RFC 8707). */
  resource: s.optional(text),
  client: s.object({ client_id: text, client_secret: s.optional(key) }),
  accessToken: key,
  refreshToken: s.optional(key),
  /** Time from which the access token is not used. Milliseconds since 1970. */
  expiresAt: s.optional(s.number()),
});

export interface ServerLogin extends s.ValueOf<typeof serverLogin> {}

/** The server of a login, which does not apply to a server of the same name at another address. */
export interface ServerIdentity {
  readonly name: string;
  readonly url: string;
}

export interface ServerLogins {
  /** Undefined without a login. @throws SheafError CONFIG_INVALID if the file is damaged, or if others can read it. */
  read(server: ServerIdentity): ServerLogin | undefined;
  /** Logins of all servers, without damaged files. */
  list(): readonly ServerLogin[];
  /** Stores a login; undefined removes it. @throws SheafError CONFIG_INVALID, STORAGE_FULL. */
  write(server: ServerIdentity, login: ServerLogin | undefined): void;
  /**
   * Runs under the lock of the login, which also keeps out the rest of this process.
   * @throws SheafError STORAGE_LOCKED after a minute, CONFIG_INVALID, STORAGE_FULL; errors of `run` and the signal.
   */
  withLock<Result>(server: ServerIdentity, run: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** Time that other processes may take with a login: an authorization server answers meanwhile. Milliseconds. */
const PATIENCE_MS = 60_000;

/** The logins in the user's data folder. */
export function createServerLogins(environment: Environment): ServerLogins {
  const folder = join(toDataFolder(environment), "mcp-logins");
  const toTarget = ({ name, url }: ServerIdentity): PrivateFile => {
    const id = hash("sha256", JSON.stringify([name, url]), "hex");
    return {
      file: join(folder, `${id.slice(0, 32)}.json`),
      subject: `the login to the MCP server ${name}`,
      remedy: `remove it and run sheaf mcp login ${name}`,
      exposure: ", and log in again if others may have read it",
    };
  };
  return {
    read(server) {
      const target = toTarget(server);
      const found = readPrivateFile(target);
      const login = found === undefined ? undefined : parseLogin(found);
      if (found !== undefined && login?.url !== server.url) throw createDamageError(target);
      return login;
    },
    list() {
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
      return names.flatMap((name) => {
        const target = { file: join(folder, name), subject: "the login", remedy: "remove it" };
        return parseLogin(readPrivateFile(target) ?? "") ?? [];
      });
    },
    write(server, login) {
      writePrivateFile(toTarget(server), login && `${JSON.stringify(login, undefined, 2)}\n`);
    },
    withLock(server, run, signal) {
      return holdFileLock(toTarget(server).file, run, { signal, patienceMs: PATIENCE_MS });
    },
  };
}

function parseLogin(found: string): ServerLogin | undefined {
  const value = parseJson(found);
  return listProblems(serverLogin, value).length === 0 ? (value as ServerLogin) : undefined;
}
