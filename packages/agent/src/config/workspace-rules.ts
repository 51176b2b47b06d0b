/** A workspace's own rules, which can only deny (S-06). Sheaf reads them only if the workspace is trusted (S-01). */
import { join } from "node:path";
import { formatProblem, listProblems, parseJson } from "@sheaf/protocol/check-value";
import type { ValueOf } from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { workspaceConfig } from "./user-config.ts";

/** Largest file that is read. Bytes. */
const MAX_BYTES = 256 * 1024;

/**
 * The rules of `.sheaf/config.json`, `{"permissions": {"deny": ["…"]}}`; empty without the file.
 * @throws SheafError CONFIG_INVALID for anything else in it, because a setting without effect must not look effective.
 */
export function readWorkspaceDenials(root: string): readonly string[] {
  const file = join(root, ".sheaf", "config.json");
  const read = readOrdinaryFile(file, MAX_BYTES);
  if (!read.ok && read.isMissing) return [];
  if (!read.ok) throw createFault(file, read.problem, read.cause);
  const value = parseJson(read.bytes.toString());
  if (value === undefined) throw createFault(file, "is not JSON");
  const [problem] = listProblems(workspaceConfig, value);
  if (!problem) return (value as ValueOf<typeof workspaceConfig>).permissions?.deny ?? [];
  const { path, reason } = problem;
  if (reason === "unknown") throw createFault(file, `sets ${JSON.stringify(path.at(-1))}, which a workspace cannot`);
  throw createFault(file, `is not valid at ${path.length === 0 ? "its top level: " : ""}${formatProblem(problem)}`);
}

function createFault(file: string, problem: string, cause?: unknown): SheafError {
  const advice = 'write {"permissions": {"deny": ["RULE"]}} there, or run without --trust';
  return new SheafError("CONFIG_INVALID", `${file} ${problem}: ${advice}`, { cause });
}
