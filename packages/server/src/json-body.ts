/** The body of a request: JSON of bounded size and depth, checked by a schema (S-50, S-55, S-71). */
import type { HonoRequest } from "hono";
import { formatProblem, isJsonObject, parseValue } from "@sheaf/protocol/check-value";
import type { JsonSchema, Schema } from "@sheaf/protocol/schema";
import { findSlip } from "@sheaf/base/nearest-names";
import { HttpError } from "./http-error.ts";

/** Largest body. Bytes. */
export const maxBody = 1024 * 1024;

/** Largest body of a request with files: 10 MiB of files (N65), as base64. Bytes. */
export const largestWithFiles = 15 * maxBody;

/**
 * The part of a too large body that the server reads and throws away. A client that still writes when the connection
 * closes often sees only the close, and never the answer with the reason. Bytes.
 */
const MAX_DISCARDED = 16 * maxBody;

/** Deepest nesting of objects and lists. */
const MAX_DEPTH = 100;

/** Limits of a body that may be larger, because the general limit ignores part of it. */
export interface LargeBody<Value> {
  /** Largest body. Bytes. */
  readonly largest: number;
  readonly measureFree: (value: Value) => number;
  /** True if null means a missing field. */
  readonly dropsNull?: boolean;
}

/** Returns the checked body. @throws HttpError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, USAGE with the field. */
export async function readJsonBody<Value>(
  request: HonoRequest,
  schema: Schema<Value>,
  large?: LargeBody<Value>,
): Promise<Value> {
  const type = request.header("content-type") ?? "";
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type)) {
    throw new HttpError(
      "UNSUPPORTED_MEDIA_TYPE",
      `the content type ${JSON.stringify(type.slice(0, 100))} is not supported: send application/json`,
    );
  }
  if (request.header("content-encoding") !== undefined) {
    throw new HttpError("UNSUPPORTED_MEDIA_TYPE", "compressed bodies are not supported: send plain JSON");
  }
  const text = await readText(request, large?.largest ?? maxBody);
  const value = parseJson(text, large !== undefined && text.length > maxBody);
  checkNesting(value, 0);
  // The check of the spelling is first, since the misspelt field may be a required one.
  checkSpelling(value, schema, []);
  const parsed = parseValue(schema, value, { dropsNull: large?.dropsNull ?? false });
  if (parsed.ok) {
    if (large && text.length - large.measureFree(parsed.value) > maxBody) throw createSizeError(maxBody);
    return parsed.value;
  }
  const problems = parsed.problems.map(
    (problem) => `${problem.path.length === 0 ? "body: " : ""}${formatProblem(problem, true)}`,
  );
  const field = parsed.problems[0]?.path.join(".");
  throw new HttpError("USAGE", `the body is not valid at ${problems[0] ?? "body"}`, {
    details: problems.join("\n"),
    ...(field && { field }),
  });
}

/** Refuses a field whose name is one slip away from the name of a missing field (X27). @throws HttpError USAGE. */
function checkSpelling(value: unknown, schema: JsonSchema, place: readonly string[]): void {
  const { properties, items } = schema;
  if (Array.isArray(value) && items) for (const item of value) checkSpelling(item, items, place);
  if (!isJsonObject(value) || !properties) return;
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(value, name));
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) {
      checkSpelling(value[name], properties[name]!, [...place, name]);
      continue;
    }
    const meant = missing.filter((field) => findSlip(name, [field]) !== undefined).join(" or ");
    if (meant === "") continue;
    const where = place.length === 0 ? "" : ` of ${place.join(".")}`;
    const message = `${JSON.stringify(name)} is not a field${where}: did you mean ${meant}?`;
    throw new HttpError("USAGE", message, { field: [...place, name].join(".") });
  }
}

function createSizeError(largest: number): HttpError {
  return new HttpError("PAYLOAD_TOO_LARGE", `the body is larger than ${largest} bytes: send less`);
}

async function readText(request: HonoRequest, largest: number): Promise<string> {
  if (Number(request.header("content-length") ?? 0) > MAX_DISCARDED) throw createSizeError(largest);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.raw.body ?? []) {
      size += chunk.length;
      if (size > MAX_DISCARDED) break;
      if (size <= largest) chunks.push(chunk);
    }
  } catch {
    throw new HttpError("USAGE", "the body ended too early: send all of it");
  }
  if (size > largest) throw createSizeError(largest);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new HttpError("USAGE", "the body is not UTF-8: send JSON in UTF-8");
  }
}

function parseJson(text: string, isLarge: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (isLarge) throw createSizeError(maxBody);
    throw new HttpError("USAGE", "the body is not JSON: send one JSON object");
  }
}

function checkNesting(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth >= MAX_DEPTH) throw new HttpError("USAGE", `the body is nested deeper than ${MAX_DEPTH}: send it flatter`);
  if (Object.hasOwn(value, "__proto__")) throw new HttpError("USAGE", 'the body has a field "__proto__": leave it out');
  for (const part of Object.values(value)) checkNesting(part, depth + 1);
}
