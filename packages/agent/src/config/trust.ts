/** Which workspaces the user trusts (S-01 to S-03): kept in the user's own data, never in a workspace. */
import { join } from "node:path";
import { SheafError } from "../base/errors.ts";
import { findRepository, isSameRepository, type Repository } from "../workspace/repository.ts";
import type { Environment } from "../base/paths.ts";
import { createDamageError, readPrivateFile, writePrivateFile, type PrivateFile } from "./private-file.ts";

/** The file of trust in the user's data folder. */
function toTarget(dataFolder: string): PrivateFile {
  return {
    file: join(dataFolder, "trust.json"),
    subject: "the list of trusted workspaces",
    remedy: "remove it, and trust them again",
    exposure: "",
  };
}

/**
 * Whether a workspace is trusted for this run: by `--trust`, else by SHEAF_TRUST (1 or 0), else by the user's list.
 * Trust applies to one repository as it is now; a nested one, a worktree, or another kind of `.git` needs new trust (S-02).
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
  const trusted = readTrusted(dataFolder);
  return trusted.length > 0 && isAmong(trusted, findRepository(workspace));
}

/** Whether a repository is on the user's list; not if the list cannot be read. `dataFolder` undefined: there is no list. */
export function isListed(repository: Repository, dataFolder: string | undefined): boolean {
  try {
    return dataFolder !== undefined && isAmong(readTrusted(dataFolder), repository);
  } catch {
    return false;
  }
}

function isAmong(trusted: readonly Repository[], repository: Repository): boolean {
  return trusted.some((candidate) => isSameRepository(candidate, repository));
}

/** The repositories that are trusted. @throws SheafError CONFIG_INVALID. */
export function readTrusted(dataFolder: string): readonly Repository[] {
  const target = toTarget(dataFolder);
  const text = readPrivateFile(target);
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createDamageError(target);
  }
  const { version, trusted } = (value ?? {}) as { version?: unknown; trusted?: unknown };
  if (version !== 1 || !Array.isArray(trusted) || !trusted.every(isRepository)) throw createDamageError(target);
  return trusted;
}

/** Replaces the list. @throws SheafError STORAGE_FULL, CONFIG_INVALID. */
export function writeTrusted(dataFolder: string, trusted: readonly Repository[]): void {
  const text = `${JSON.stringify({ version: 1, trusted }, undefined, 2)}\n`;
  writePrivateFile(toTarget(dataFolder), trusted.length === 0 ? undefined : text);
}

function isRepository(value: unknown): value is Repository {
  if (typeof value !== "object" || value === null) return false;
  const { root, git, gitFolder, commonFolder } = value as Record<string, unknown>;
  return [root, git, gitFolder, commonFolder].every((field) => typeof field === "string");
}
