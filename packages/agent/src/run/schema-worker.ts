/** The thread that applies users' JSON Schemas (S-89). Their patterns may run for hours, so it has no other work. */
import { parentPort, workerData } from "node:worker_threads";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { SchemaRequest, SchemaVerdict } from "./schema-thread.ts";

/** Faults in one message. */
const MAX_FAULTS = 5;

/** A value of each type: a schema that refers to itself without end does so for one of these. */
const samples: readonly unknown[] = [null, {}, [], "", 0, true];

/** First bytes of the pattern that is being matched, for the thread that waits. */
const current = new Uint8Array(workerData as SharedArrayBuffer);
const encoder = new TextEncoder();

/** Compiled schemas by their text. */
const compiled = new Map<string, ValidateFunction>();

const createPattern = Object.assign(
  (pattern: string, flags: string) => {
    const expression = new RegExp(pattern, flags);
    return {
      test(text: string) {
        encoder.encodeInto(pattern, current);
        try {
          return expression.test(text);
        } finally {
          current.fill(0);
        }
      },
      // ajv keeps one for each text.
      toString: () => `${expression}`,
    };
  },
  { code: "new RegExp" },
);

const port = parentPort!;
port.on("message", (request: SchemaRequest) => port.postMessage(applySchema(request)));
// The time limit starts here.
port.postMessage("ready");

function applySchema({ schema, value }: SchemaRequest): SchemaVerdict {
  try {
    const validate = compiled.get(schema) ?? compile(schema);
    if (!value || validate(value[0])) return { kind: "fits" };
    const faults = (validate.errors ?? []).slice(0, MAX_FAULTS).map(formatFault);
    return { kind: "misfit", faults: faults.join("; ") };
  } catch (error) {
    return { kind: "unusable", problem: toProblem(error) };
  }
}

function compile(text: string): ValidateFunction {
  // A schema may use formats and keywords that this version does not know.
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  const validate = new Ajv2020({ ...options, code: { regExp: createPattern } }).compile(JSON.parse(text) as object);
  for (const sample of samples) validate(sample);
  compiled.set(text, validate);
  return validate;
}

function toProblem(error: unknown): string {
  if (error instanceof RangeError) return "refers to itself without end, or is nested too deeply: correct its $ref";
  const reason = error instanceof Error ? error.message : String(error);
  return `is not a JSON Schema of draft 2020-12 (${reason.replaceAll(/\s+/g, " ").slice(0, 500)}): correct it`;
}

function formatFault({ instancePath, message = "is wrong", params }: ErrorObject): string {
  const extra = "additionalProperty" in params ? ` ("${String(params.additionalProperty)}")` : "";
  return `${instancePath === "" ? "the value" : instancePath} ${message}${extra}`;
}
