/** JSON Schemas of users, for an answer (`--output-schema`) or for the arguments of a custom tool. */
import { parseText } from "@sheaf/documents/text";
import { isJsonObject, parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { resolve } from "node:path";
import { readNamedFile } from "@sheaf/base/read-named-file";
import type { AnswerCheck, CheckedAnswer } from "./final-answer.ts";
import { createSchemaThread, type SchemaThread, type SchemaVerdict } from "./schema-thread.ts";

/** Checks a value against one schema. */
export type SchemaCheck = (value: unknown) => Promise<SchemaVerdict>;

/** The fault of a schema, as in `the schema <problem>`; undefined for a usable schema. */
export async function findSchemaProblem(schema: object, thread: SchemaThread): Promise<string | undefined> {
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    return `is not JSON: ${(error as Error).message}`;
  }
  const verdict = await thread.apply({ schema: text });
  return verdict.kind === "unusable" ? verdict.problem : undefined;
}

export function createSchemaCheck(schema: object, thread: SchemaThread): SchemaCheck {
  const text = JSON.stringify(schema);
  return (value) => thread.apply({ schema: text, value: [value] });
}

/** A check of answers by a valid schema; `name` is its name in messages. */
export function toAnswerCheck(name: string, check: SchemaCheck): AnswerCheck {
  return async (text) => {
    const found = findJson(text);
    if (!found.ok) return found;
    const verdict = await check(found.value);
    switch (verdict.kind) {
      case "fits":
        return found;
      case "misfit":
        return { ok: false, problem: `the JSON does not fit the schema: ${verdict.faults}` };
      case "unusable":
        return { ok: false, problem: `${name} ${verdict.problem}`, isSchemaFault: true };
    }
  };
}

/**
 * A check of answers by a schema in a file, or in JSON itself. `onClose` gets the function that ends its thread.
 * @throws SheafError CONFIG_INVALID with the file and its fault.
 */
export async function createAnswerCheck(
  file: string,
  folder: string,
  signal: AbortSignal,
  onClose: (close: () => void) => void,
): Promise<AnswerCheck> {
  const isText = file.trimStart().startsWith("{");
  const name = isText ? "the schema" : `the schema ${file}`;
  const schema = isText ? parseSchema(file) : await readSchema(file, folder, signal);
  const thread = createSchemaThread(signal);
  onClose(() => thread.close());
  const problem = await findSchemaProblem(schema, thread);
  signal.throwIfAborted();
  if (problem !== undefined) throw new SheafError("CONFIG_INVALID", `${name} ${problem}`);
  return toAnswerCheck(name, createSchemaCheck(schema, thread));
}

function parseSchema(text: string): object {
  const schema = parseJson(text);
  if (isJsonObject(schema)) return schema;
  throw new SheafError("CONFIG_INVALID", "the schema is not JSON: correct it, or name a file");
}

async function readSchema(file: string, folder: string, signal: AbortSignal): Promise<object> {
  let step = ["cannot be read", "check the path after --output-schema"];
  try {
    const text = await readNamedFile(resolve(folder, file), signal);
    step = ["is not JSON", "correct it"];
    return JSON.parse(text.replace(/^\uFEFF/, "")) as object;
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const message = `the schema ${file} ${step[0]} (${(error as Error).message}): ${step[1]}`;
    throw new SheafError("CONFIG_INVALID", message, { cause: error });
  }
}

/** The whole text, or else its only code block, as JSON. */
function findJson(text: string): CheckedAnswer {
  const blocks = parseText(text).filter((segment) => segment.type === "code_block");
  const [block] = blocks;
  const candidates = [text, ...(block && blocks.length === 1 ? [block.content] : [])];
  for (const candidate of candidates) {
    const value = parseJson(candidate);
    if (value !== undefined) return { ok: true, value };
  }
  return { ok: false, problem: "the answer is not JSON: it must be one JSON value, or one code block with it" };
}
