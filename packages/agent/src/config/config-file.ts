/** Reads, checks and changes the user's configuration, `config.json`. Described in docs/reference/configuration.md. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { formatPath, formatProblem, listProblems, type Problem } from "@sheaf/protocol/check-value";
import type { JsonSchema } from "@sheaf/protocol/schema";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { makeFolder } from "@sheaf/base/make-folder";
import { findNearest } from "@sheaf/base/nearest-names";
import { readOrdinaryFile } from "@sheaf/base/read-ordinary-file";
import { replaceFile } from "@sheaf/base/replace-file";
import { changeFile } from "@sheaf/base/file-lock";
import { userConfig, type UserConfig } from "./user-config.ts";
import { toWriteError } from "@sheaf/base/write-error";

/** Largest file that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** The JSON Schema of the file, for editors: name it in `$schema`. */
export function toConfigSchema(): object {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", ...userConfig };
}

/**
 * The configuration at `file`; empty if the file does not exist.
 * @throws SheafError CONFIG_INVALID with the file, the place in it and the expected form (S-04), never with a value.
 */
export function readUserConfig(file: string): UserConfig {
  const text = readText(file);
  return text === undefined ? {} : parseUserConfig(text, file);
}

function readText(file: string): string | undefined {
  const read = readOrdinaryFile(file, MAX_BYTES);
  if (read.ok) return read.bytes.toString();
  if (read.isMissing) return undefined;
  throw createFault(file, read.problem, "make it a JSON file that you can read, or remove it", read.cause);
}

/** A configuration from the text of its file. @throws SheafError CONFIG_INVALID. */
export function parseUserConfig(text: string, file: string): UserConfig {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const fault = findJsonFault(json);
  if (fault) {
    const expected = "expected JSON, which has no comments and no comma before a closing bracket";
    throw createFault(file, `is not valid at line ${fault.line}, column ${fault.column}`, expected);
  }
  const value: unknown = JSON.parse(json);
  const problems = listProblems(userConfig, value).map(toLine);
  if (problems.length === 0) return value as UserConfig;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const advice = `"sheaf schema config" prints the format`;
  throw new SheafError("CONFIG_INVALID", `the configuration ${file} is not valid at ${problems[0]}${more}; ${advice}`, {
    details: problems.join("\n"),
  });
}

/** Describes a problem without the value, which may be a key (S-41). */
function toLine(problem: Problem): string {
  const { path, reason } = problem;
  if (reason !== "unknown") return `${path.length === 0 ? "its top level: " : ""}${formatProblem(problem)}`;
  const place = path.slice(0, -1);
  const key = String(path.at(-1));
  return `${formatPath(place) || "its top level"}: there is no key "${key}"${adviseOnKey(problem.schema, key)}`;
}

/** ` (did you mean "model"?)`, or the keys that exist. */
function adviseOnKey({ properties = {} }: JsonSchema, key: string): string {
  const known = Object.keys(properties);
  const nearest = findNearest(key, known).map((name) => `"${name}"`);
  return nearest.length > 0 ? ` (did you mean ${nearest.join(" or ")}?)` : ` (there are ${known.join(", ")})`;
}

function createFault(file: string, problem: string, advice: string, cause?: unknown): SheafError {
  return new SheafError("CONFIG_INVALID", `the configuration ${file} ${problem}: ${advice}`, { cause });
}

/** A configuration as found; a fault is reported where the configuration is needed. */
export interface FoundConfig {
  readonly settings: UserConfig;
  readonly fault: SheafError | undefined;
}

/** Reads like `readUserConfig`, with the failure as a value, so that a run can end with it as its reason (C22). */
export function findUserConfig(file: string): FoundConfig {
  try {
    return { settings: readUserConfig(file), fault: undefined };
  } catch (error) {
    return { settings: {}, fault: toSheafError(error) };
  }
}

/**
 * Reads the file, changes its value and writes it back whole or not at all. Everything else in it stays, in Sheaf's
 * layout. Other users cannot read a new file (S-42). `change` may be called twice.
 * @throws SheafError CONFIG_INVALID for an invalid file or change, which leaves the file as it is.
 */
export function changeUserConfig(
  file: string,
  change: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): void {
  const plan = () => {
    const before = readText(file);
    if (before !== undefined) parseUserConfig(before, file);
    const value = before === undefined ? {} : (JSON.parse(before.replace(/^\uFEFF/, "")) as Record<string, unknown>);
    const after = `${JSON.stringify(change(value), undefined, 2)}\n`;
    parseUserConfig(after, file);
    return { before, after };
  };
  changeFile(file, plan, (text = "") => {
    try {
      makeFolder(dirname(file));
      replaceFile(file, text, (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777);
    } catch (error) {
      throw toWriteError(`the configuration ${file}`, error);
    }
  });
}

/** A place in a text, both from 1. */
export interface TextPlace {
  readonly line: number;
  /** UTF-16 units. */
  readonly column: number;
}

/**
 * The first place at which no JSON can continue; undefined if the text is JSON. `JSON.parse` quotes the text in its
 * message, and the text may contain a key (S-41).
 */
export function findJsonFault(text: string): TextPlace | undefined {
  if (readJson(text) === "whole") return undefined;
  let good = 0;
  let bad = text.length + 1;
  // A faulty prefix stays faulty however the text continues, so a binary search finds the shortest one.
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (middle <= text.length && readJson(text.slice(0, middle)) !== "faulty") good = middle;
    else bad = middle;
  }
  const lines = text.slice(0, good).split("\n");
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

/** Sorts texts: whole JSON, a text that may still become JSON, or another text. */
function readJson(text: string): "whole" | "begun" | "faulty" {
  try {
    JSON.parse(text);
    return "whole";
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (message.includes("end of JSON input")) return "begun";
    const [, position] = / at position (\d+)/.exec(message) ?? [];
    return position !== undefined && Number(position) >= text.length ? "begun" : "faulty";
  }
}
