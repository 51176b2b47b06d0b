/** What a program may write on stdin with `--input-format stream-json` (C65, C66). */
import type { Attachment, RunStart } from "@sheaf/protocol";
import { formatProblem, isJsonObject, listProblems } from "@sheaf/protocol/check-value";
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { toMessageAttachments } from "@sheaf/base/files/attachment";

const file = s.object({ type: s.literal("base64"), data: s.base64() });

const item = s.either([
  s.object({ type: s.literal("text"), text: s.string() }),
  s.object({ type: s.choice(["image", "document"]), source: file }),
]);

const userLine = s.object({
  type: s.literal("user"),
  message: s.object({ role: s.literal("user"), content: s.either([s.string(), s.list(item)]) }),
});

const answers = s.record(s.either([s.string(), s.list(s.string())]));

const requestLine = s.object({
  type: s.literal("control_request"),
  request_id: s.string(),
  request: s.object({ subtype: s.string(), answers: s.optional(answers) }),
});

const responseLine = s.object({
  type: s.literal("control_response"),
  response: s.object({
    subtype: s.choice(["success", "error"]),
    request_id: s.string(),
    response: s.optional(
      s.object({
        behavior: s.optional(s.string()),
        option_id: s.optional(s.string()),
        updatedInput: s.optional(s.record(s.anything())),
        message: s.optional(s.string()),
        interrupt: s.optional(s.boolean()),
      }),
    ),
    error: s.optional(s.string()),
  }),
});

/** A message, as a run takes it. */
export interface UserInput {
  readonly kind: "message";
  readonly message: Pick<RunStart, "prompt" | "attachments">;
}

/** One line. */
export type InputLine =
  | UserInput
  | { readonly kind: "request"; readonly id: string; readonly request: s.ValueOf<typeof requestLine>["request"] }
  | {
      readonly kind: "response";
      readonly number: number;
      readonly response: s.ValueOf<typeof responseLine>["response"];
    };

const schemas = { user: userLine, control_request: requestLine, control_response: responseLine };

/** The lines as they come. @throws SheafError USAGE at the first that cannot be used: it names its number. */
export async function* readInputLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<InputLine> {
  const decoder = createNdjsonDecoder();
  const characters = new TextDecoder("utf-8", { fatal: true });
  let number = 1;
  const toText = (chunk?: Uint8Array): string => {
    try {
      return chunk ? characters.decode(chunk, { stream: true }) : characters.decode();
    } catch (error) {
      throw createLineError(number, "or the one after it is not UTF-8", error);
    }
  };
  const decode = (records: ReturnType<typeof decoder.push>): InputLine[] =>
    records.map((record) => {
      if (record.ok) return decodeLine(record.value, number);
      const [, length] = /longer than (\d+) characters/.exec(record.error) ?? [];
      throw createLineError(number, length ? `is longer than ${length} characters` : "is not JSON");
    });
  for await (const chunk of chunks) {
    for (const [index, piece] of toText(chunk).split("\n").entries()) {
      if (index > 0) {
        yield* decode(decoder.push("\n"));
        number += 1;
      }
      decoder.push(piece);
    }
  }
  decoder.push(toText());
  yield* decode(decoder.end());
}

function decodeLine(value: unknown, number: number): InputLine {
  const type = isJsonObject(value) && typeof value["type"] === "string" ? value["type"] : "";
  if (!Object.hasOwn(schemas, type)) {
    throw createLineError(number, `has the type ${JSON.stringify(type.slice(0, 100))}`);
  }
  const schema = schemas[type as keyof typeof schemas];
  const [problem] = listProblems(schema, value);
  if (problem) throw createLineError(number, `is not valid at ${formatProblem(problem)}`);
  if (type === "user") return toUserInput(value as s.ValueOf<typeof userLine>, number);
  if (type === "control_response") {
    return { kind: "response", number, response: (value as s.ValueOf<typeof responseLine>).response };
  }
  const { request_id: id, request } = value as s.ValueOf<typeof requestLine>;
  return { kind: "request", id, request };
}

function toUserInput({ message: { content } }: s.ValueOf<typeof userLine>, number: number): UserInput {
  const items = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const prompt = items.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  if (prompt.trim() === "") throw createLineError(number, "is a message without text");
  const files = items.flatMap((part) => (part.type === "text" ? [] : [Buffer.from(part.source.data, "base64")]));
  return { kind: "message", message: { prompt, ...toAttachments(files, number) } };
}

function toAttachments(files: readonly Buffer[], number: number): { readonly attachments?: readonly Attachment[] } {
  if (files.length === 0) return {};
  try {
    return {
      attachments: toMessageAttachments(
        files.map((bytes, index) => ({ name: `file ${index + 1}`, bytes, isText: false })),
      ),
    };
  } catch (error) {
    throw createLineError(number, `cannot be used: ${error instanceof Error ? error.message : ""}`, error);
  }
}

const expected =
  '{"type":"user","message":{"role":"user","content":"…"}}, or a control_request or control_response of docs/formats/cli.md';

/** For what stdin says that has no meaning. */
export function createLineError(number: number, problem: string, cause?: unknown): SheafError {
  return new SheafError("USAGE", `line ${number} of stdin ${problem}: write ${expected}`, { cause });
}
