/** What a workspace may say about permissions: it can only deny (S-06). Read where the workspace is trusted (S-01). */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SheafError } from "../base/errors.ts";
import { parseRule } from "../guard/permissions/rule.ts";

/** The largest file that is read. Bytes. */
const MAX_BYTES = 256 * 1024;

/**
 * The rules of `.sheaf/config.json`, `{"permissions": {"deny": ["…"]}}`; none without the file.
 * @throws SheafError CONFIG_INVALID for anything else in it: a setting that does nothing would be taken for one that does.
 */
export function readWorkspaceDenials(root: string): readonly string[] {
  const file = join(root, ".sheaf", "config.json");
  const text = readText(file);
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw createFault(file, "is no JSON", error);
  }
  const permissions = toOnlyField(value, "permissions", file) ?? {};
  const deny = toOnlyField(permissions, "deny", file) ?? [];
  if (!Array.isArray(deny)) throw createFault(file, `has no list at "permissions.deny"`);
  return deny.map((rule: unknown, index) => checkRule(rule, `permissions.deny[${index}]`, file));
}

function toOnlyField(value: unknown, name: string, file: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw createFault(file, "is no JSON object");
  const other = Object.keys(value).find((field) => field !== name);
  if (other !== undefined) throw createFault(file, `sets ${JSON.stringify(other)}, which a workspace cannot`);
  return (value as Record<string, unknown>)[name];
}

function checkRule(rule: unknown, place: string, file: string): string {
  if (typeof rule !== "string") throw createFault(file, `has no text at "${place}"`);
  try {
    parseRule(rule);
    return rule;
  } catch (error) {
    throw createFault(
      file,
      `is not valid at "${place}": ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function readText(file: string): string | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return undefined;
    if (!stats.isFile() || stats.size > MAX_BYTES) throw createFault(file, `is no file of at most ${MAX_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return undefined;
    throw createFault(file, `cannot be read (${code})`, error);
  }
}

function createFault(file: string, problem: string, cause?: unknown): SheafError {
  const advice = 'a workspace may say {"permissions": {"deny": ["RULE"]}} there, or the user runs without --trust';
  return new SheafError("CONFIG_INVALID", `${file} ${problem}: ${advice}`, { cause });
}
