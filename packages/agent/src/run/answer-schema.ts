/** JSON Schemas of users: what an answer (`--output-schema`) or the arguments of a custom tool must fit. */
import { parseText } from "@sheaf/documents";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { SheafError } from "../base/errors.ts";
import { readNamedFile } from "../base/read-named-file.ts";
import type { AnswerCheck, CheckedAnswer } from "./final-answer.ts";

/** How many faults one message names. */
const MAX_FAULTS = 5;

/** What is wrong with a value, in one line; undefined: nothing. */
export type ValueCheck = (value: unknown) => string | undefined;

/** A check by a JSON Schema (draft 2020-12). @throws Error for a schema that is not valid. */
export function compileSchema(schema: object): ValueCheck {
  // A schema may use formats and keywords that this version does not know.
  const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  return (value) =>
    validate(value) ? undefined : (validate.errors ?? []).slice(0, MAX_FAULTS).map(formatFault).join("; ");
}

/** A check of answers by a schema. @throws Error for a schema that is not valid. */
export function toAnswerCheck(schema: object): AnswerCheck {
  const check = compileSchema(schema);
  return (text) => {
    const found = findJson(text);
    const faults = found.ok ? check(found.value) : undefined;
    return faults === undefined ? found : { ok: false, problem: `the JSON does not fit the schema: ${faults}` };
  };
}

/**
 * The same from a file.
 * @throws SheafError CONFIG_INVALID that names the file and what is wrong with it.
 */
export async function createAnswerCheck(file: string, signal: AbortSignal): Promise<AnswerCheck> {
  let step = "cannot be read, check the path after --output-schema";
  try {
    const text = await readNamedFile(file, signal);
    step = "is not JSON, correct it";
    const schema = JSON.parse(text.replace(/^\uFEFF/, "")) as object;
    step = "is not a JSON Schema of draft 2020-12, correct it";
    return toAnswerCheck(schema);
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const reason = isMissing ? "the file does not exist" : error instanceof Error ? error.message : String(error);
    throw new SheafError("CONFIG_INVALID", `the schema ${file} ${step}: ${reason}`, { cause: error });
  }
}

function formatFault({ instancePath, message = "is wrong", params }: ErrorObject): string {
  const extra = "additionalProperty" in params ? ` ("${String(params.additionalProperty)}")` : "";
  return `${instancePath === "" ? "the value" : instancePath} ${message}${extra}`;
}

/** The whole text, or else its only code block, as JSON. */
function findJson(text: string): CheckedAnswer {
  const blocks = parseText(text).filter((segment) => segment.type === "code_block");
  const [block] = blocks;
  const candidates = [text, ...(block && blocks.length === 1 ? [block.content] : [])];
  for (const candidate of candidates) {
    try {
      return { ok: true, value: JSON.parse(candidate) as unknown };
    } catch {
      // The next candidate may be JSON.
    }
  }
  return { ok: false, problem: "the answer is not JSON: it must be one JSON value, or one code block with it" };
}
