/** Answers that must fit a JSON Schema (`--output-schema`). */
import { parseText } from "@sheaf/documents";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { SheafError } from "../base/errors.ts";
import { readNamedFile } from "../base/read-named-file.ts";
import type { AnswerCheck, CheckedAnswer } from "./final-answer.ts";

/** How many faults are told at once. */
const MAX_FAULTS = 5;

/**
 * A check from a file with a JSON Schema (draft 2020-12).
 * @throws SheafError CONFIG_INVALID that names the file and what is wrong with it.
 */
export async function createAnswerCheck(file: string, signal: AbortSignal): Promise<AnswerCheck> {
  const validate = await compileSchema(file, signal);
  return (text) => {
    const found = findJson(text);
    if (!found.ok || validate(found.value)) return found;
    const faults = (validate.errors ?? []).slice(0, MAX_FAULTS).map(formatFault).join("; ");
    return { ok: false, problem: `the JSON does not fit the schema: ${faults}` };
  };
}

async function compileSchema(file: string, signal: AbortSignal): Promise<ValidateFunction> {
  let step = "cannot be read, check the path behind --output-schema";
  try {
    const text = await readNamedFile(file, signal);
    step = "is no JSON, correct it";
    const schema = JSON.parse(text.replace(/^\uFEFF/, "")) as object;
    step = "is no JSON Schema of draft 2020-12, correct it";
    // Formats and words that this version does not know are no reason to refuse a schema.
    return new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const reason = isMissing ? "there is no such file" : error instanceof Error ? error.message : String(error);
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
  return { ok: false, problem: "the answer is no JSON: it must be one JSON value, or one code block with it" };
}
