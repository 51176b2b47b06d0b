/** The user's trust in workspaces, servers and hooks, in the user's own data alone (S-01 to S-03, S-87, S-141). */
import { join } from "node:path";
import { listProblems, parseJson } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { findRepository, isSameRepository, type Repository } from "@sheaf/base/files/repository";
import type { Environment } from "@sheaf/base/paths";
import { changePrivateFile, createDamageError, readPrivateFile, type PrivateFile } from "./private-file.ts";

/** An entry of a repository that its user approved. */
export interface TrustedEntry {
  readonly repository: Repository;
  /** The name of the server, or of the file of hooks. */
  readonly name: string;
  /** SHA-256 of the approved content, hex. */
  readonly digest: string;
}

const place = s.object({ root: s.string(), git: s.string(), gitFolder: s.string(), commonFolder: s.string() });
const named = s.optional(s.list(s.object({ repository: place, name: s.string(), digest: s.string() })));
const one = s.integer({ minimum: 1, maximum: 1 });
const trustFile = s.object({ version: one, trusted: s.list(place), servers: named, hooks: named });

export interface TrustList {
  readonly repositories: readonly Repository[];
  readonly servers: readonly TrustedEntry[];
  readonly hooks: readonly TrustedEntry[];
}

/** Kinds of entries that need their own approval, bound to their content. */
export type TrustKind = "servers" | "hooks";

/** The trust in an entry with this content. */
export type TrustState = "trusted" | "changed" | "not_trusted";

function toTarget(dataFolder: string): PrivateFile {
  return {
    file: join(dataFolder, "trust.json"),
    subject: "the list of trusted workspaces",
    remedy: "remove it, and trust them again",
  };
}

/**
 * True if a workspace is trusted for this run: by `--trust`, else by SHEAF_TRUST (1 or 0), else by the user's list.
 * Trust applies to a repository as it is now. A nested one, a worktree or a new kind of `.git` needs its own (S-02).
 * @throws SheafError CONFIG_INVALID for a list that cannot be read (S-04), or another value of the variable.
 */
export function isTrusted(
  workspace: string,
  { flag, environment, dataFolder }: { flag: boolean; environment: Environment; dataFolder: string },
): boolean {
  if (flag) return true;
  const given = environment.SHEAF_TRUST ?? "";
  if (given === "1") return true;
  if (given === "0") return false;
  if (given !== "") {
    throw new SheafError("CONFIG_INVALID", `SHEAF_TRUST is "${given}": set it to 1 or 0, or leave it out`);
  }
  const { repositories } = readTrust(dataFolder);
  return repositories.length > 0 && isAmong(repositories, findRepository(workspace));
}

/** True if a repository is on the user's list; false if the list is missing (`dataFolder` undefined) or unreadable. */
export function isListed(repository: Repository, dataFolder: string | undefined): boolean {
  try {
    return dataFolder !== undefined && isAmong(readTrust(dataFolder).repositories, repository);
  } catch {
    return false;
  }
}

function isAmong(trusted: readonly Repository[], repository: Repository): boolean {
  return trusted.some((candidate) => isSameRepository(candidate, repository));
}

/** The user's trust. @throws SheafError CONFIG_INVALID. */
export function readTrust(dataFolder: string): TrustList {
  const target = toTarget(dataFolder);
  return parseTrust(readPrivateFile(target), target);
}

function parseTrust(text: string | undefined, target: PrivateFile): TrustList {
  if (text === undefined) return { repositories: [], servers: [], hooks: [] };
  const value = parseJson(text);
  if (listProblems(trustFile, value).length > 0) throw createDamageError(target);
  const {
    trusted,
    servers = [],
    hooks = [],
  } = value as Partial<TrustList> & { readonly trusted: readonly Repository[] };
  return { repositories: trusted, servers, hooks };
}

/** Approved entries of a repository: digests by name, if there is a data folder. @throws SheafError CONFIG_INVALID. */
export function readTrusted(
  kind: TrustKind,
  { workspace, dataFolder }: { readonly workspace: string; readonly dataFolder: string | undefined },
): ReadonlyMap<string, string> {
  const list = dataFolder === undefined ? [] : readTrust(dataFolder)[kind];
  if (list.length === 0) return new Map();
  const repository = findRepository(workspace);
  const own = list.filter((entry) => isSameRepository(entry.repository, repository));
  return new Map(own.map(({ name, digest }) => [name, digest]));
}

/** Compares an entry of a repository with the approved ones. */
export function toTrustState(
  { name, digest }: Pick<TrustedEntry, "name" | "digest">,
  trusted: ReadonlyMap<string, string>,
): TrustState {
  const known = trusted.get(name);
  if (known === digest) return "trusted";
  return known === undefined ? "not_trusted" : "changed";
}

/** Approves an entry with this content. @throws SheafError as `changeTrust`. */
export function addTrust(
  kind: TrustKind,
  { name, digest }: Pick<TrustedEntry, "name" | "digest">,
  { workspace, dataFolder }: { readonly workspace: string; readonly dataFolder: string },
): void {
  const repository = findRepository(workspace);
  changeTrust(dataFolder, (list) => {
    const others = list[kind].filter((entry) => entry.repository.root !== repository.root || entry.name !== name);
    return { ...list, [kind]: [...others, { repository, name, digest }] };
  });
}

/** Revokes these entries of a repository (default: all), and returns their names. @throws SheafError as `addTrust`. */
export function removeTrust(
  kind: TrustKind,
  names: readonly string[],
  { workspace, dataFolder }: { readonly workspace: string; readonly dataFolder: string },
): readonly string[] {
  const { root } = findRepository(workspace);
  const isForgotten = ({ repository, name }: TrustedEntry): boolean =>
    repository.root === root && (names.length === 0 || names.includes(name));
  const { before } = changeTrust(dataFolder, (list) => ({
    ...list,
    [kind]: list[kind].filter((entry) => !isForgotten(entry)),
  }));
  return before[kind].filter(isForgotten).map(({ name }) => name);
}

/**
 * Changes the list under its lock, and returns it before and after. `change` may be called twice.
 * @throws SheafError STORAGE_FULL, STORAGE_LOCKED, CONFIG_INVALID.
 */
export function changeTrust(
  dataFolder: string,
  change: (list: TrustList) => TrustList,
): { readonly before: TrustList; readonly after: TrustList } {
  const target = toTarget(dataFolder);
  const { before, after } = changePrivateFile(target, (text) => formatTrust(change(parseTrust(text, target))));
  return { before: parseTrust(before, target), after: parseTrust(after, target) };
}

function formatTrust({ repositories, servers, hooks }: TrustList): string | undefined {
  if (repositories.length + servers.length + hooks.length === 0) return undefined;
  const entries = { ...(servers.length > 0 && { servers }), ...(hooks.length > 0 && { hooks }) };
  return `${JSON.stringify({ version: 1, trusted: repositories, ...entries }, undefined, 2)}\n`;
}
