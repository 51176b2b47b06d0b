/** Turns a chat completion or a request of OpenAI's Responses into a message and past turns (X20, X21, N72). */
import type { ChatAttachment, ChatRequest } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { chatSettings } from "@sheaf/protocol/schemas";
import type { PastTurn } from "@sheaf/agent/run/conversations/past-turns";
import { readDataAddress, toFiles } from "./data-address.ts";
import { HttpError } from "./http-error.ts";
import type { LargeBody } from "./json-body.ts";

const part = s.object({
  type: s.string(),
  text: s.optional(s.string()),
  image_url: s.optional(s.either([s.string(), s.object({ url: s.string() })])),
  file: s.optional(s.object({ file_data: s.optional(s.string()), filename: s.optional(s.string()) })),
  /** Requests of Responses have both fields here. */
  file_data: s.optional(s.string()),
  filename: s.optional(s.string()),
});

/** A part of a message. */
interface Part extends s.ValueOf<typeof part> {}

/** A field for a feature that the agent lacks: Sheaf refuses every value that asks for something. */
const refused = (expected: string, isNothing: (value: unknown) => boolean = (value) => Array.isArray(value)) =>
  s.optional(
    s.refine(s.anything(), expected, (value) => (Array.isArray(value) ? value.length === 0 : isNothing(value))),
  );

const roles = ["system", "developer", "user", "assistant"];

const role = s.refine(s.string(), `one of ${roles.join(", ")}; the agent takes results of its own tools only`, (name) =>
  roles.includes(name),
);
const content = s.optional(s.either([s.string(), s.list<Part>(part)]));

const message = s.object({
  role,
  content,
  tool_calls: refused("none: the agent calls its own tools only"),
});

/** A message in either API. */
export interface OpenAiInput extends s.ValueOf<typeof message> {}

const efforts = { none: "off", minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" } as const;
const noTools = "none: the agent has tools of its own, and calls none of the client";

const effort = s.optional(s.choice(["none", "minimal", "low", "medium", "high", "xhigh"]));
const isText = (value: unknown): boolean => (value as { readonly type?: unknown }).type === "text";

/** Schema of a chat completion; Sheaf ignores other fields. */
export const openAiRequest = s.extend(chatSettings, {
  messages: s.list<OpenAiInput>(message, { minItems: 1 }),
  stream: s.optional(s.boolean()),
  stream_options: s.optional(s.object({ include_usage: s.optional(s.boolean()) })),
  reasoning_effort: effort,
  tools: refused(noTools),
  functions: refused(noTools),
  stop: refused("none: the agent ends by itself"),
  audio: refused("none: the agent answers with text"),
  n: refused("1: the agent gives one answer", (value) => value === 1),
  logprobs: refused("false: the agent has none", (value) => value === false),
  response_format: refused('{"type": "text"}', isText),
});

const itemTypes = ["message", "item_reference", "reasoning"];

const item = s.object({
  type: s.optional(
    s.refine(s.string(), `one of ${itemTypes.join(", ")}; the agent takes results of its own tools only`, (type) =>
      itemTypes.includes(type),
    ),
  ),
  role: s.optional(role),
  content,
  /** The id of a message that the agent wrote, in a reference to it. */
  id: s.optional(s.string()),
});

/** One item in the input of Responses. */
export interface InputItem extends s.ValueOf<typeof item> {}

/** Schema of a request of Responses; Sheaf ignores other fields. */
export const responsesRequest = s.extend(chatSettings, {
  input: s.either([s.string(), s.list<InputItem>(item, { minItems: 1 })]),
  instructions: s.optional(s.string()),
  previous_response_id: s.optional(s.string()),
  stream: s.optional(s.boolean()),
  reasoning: s.optional(s.object({ effort })),
  tools: refused(noTools),
  background: refused("false: send the message to /v1/chat", (value) => value === false),
  conversation: refused("none: continue with previous_response_id"),
  prompt: refused("none: send its text as instructions"),
  text: s.optional(s.object({ format: refused('{"type": "text"}', isText) })),
});

/** Files have the limit of attachments (S-55). OpenAI's clients send null for missing fields. */
const large = { largest: 15 * 1024 * 1024, dropsNull: true };

export const largeCompletion: LargeBody<s.ValueOf<typeof openAiRequest>> = {
  ...large,
  measureFree: ({ messages }) => measureFiles(messages),
};

export const largeResponse: LargeBody<s.ValueOf<typeof responsesRequest>> = {
  ...large,
  measureFree: ({ input }) => (typeof input === "string" ? 0 : measureFiles(input)),
};

function measureFiles(messages: readonly Pick<OpenAiInput, "content">[]): number {
  return messages.flatMap(listParts).reduce((sum, each) => sum + (toAddress(each)?.length ?? 0), 0);
}

/** The texts and files of consecutive messages by one side. */
interface Words {
  readonly texts: string[];
  readonly files: ChatAttachment[];
}

interface OpenAiMessage {
  readonly body: ChatRequest;
  readonly past: readonly PastTurn[];
}

interface OpenAiSettings extends Omit<ChatRequest, "message"> {
  readonly openAiEffort?: keyof typeof efforts | undefined;
  /** The field that has the messages. */
  readonly field: "messages" | "input";
}

/** Makes the user's last texts the message, and everything before past turns. @throws HttpError, SheafError USAGE. */
export function toMessage(messages: readonly OpenAiInput[], options: OpenAiSettings): OpenAiMessage {
  const { openAiEffort, field, ...settings } = options;
  const last = `${field}.${messages.length - 1}`;
  if (messages.at(-1)?.role !== "user")
    throw createFieldError(`${last}.role`, "the last message is not the user's: end with one");
  const system = [settings.appendSystemPrompt ?? ""];
  const past: PastTurn[] = [];
  let user: Words = { texts: [], files: [] };
  let answer: string[] = [];
  for (const [index, one] of messages.entries()) {
    const { texts, files } = toWords(one, `${field}.${index}.content`);
    if (one.role === "assistant") answer.push(...texts);
    else if (one.role !== "user") system.push(...texts);
    else {
      if (join(answer) !== "") {
        past.push({ prompt: join(user.texts), attachments: toFiles(user.files), answer: join(answer) });
        user = { texts: [], files: [] };
        answer = [];
      }
      user.texts.push(...texts);
      user.files.push(...files);
    }
  }
  if (join(user.texts) === "" && user.files.length === 0)
    throw createFieldError(`${last}.content`, "the message is empty: write something");
  const words = { message: join(user.texts), attachments: user.files, appendSystemPrompt: join(system) };
  const effortSetting = openAiEffort && { effort: efforts[openAiEffort] };
  return { body: { onDisconnect: "cancel", ...effortSetting, ...settings, ...words }, past };
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function listParts({ content: parts = "" }: Pick<OpenAiInput, "content">): readonly Part[] {
  return typeof parts === "string" ? [{ type: "text", text: parts }] : parts;
}

function toAddress({ image_url, file, file_data }: Part): string | undefined {
  return typeof image_url === "object" ? image_url.url : (image_url ?? file?.file_data ?? file_data);
}

function toWords(one: OpenAiInput, root: string): Words {
  const words: Words = { texts: [], files: [] };
  for (const [place, each] of listParts(one).entries()) {
    const field = `${root}.${place}`;
    const address = toAddress(each);
    if (["text", "input_text", "output_text"].includes(each.type)) words.texts.push(each.text ?? "");
    else if (address === undefined || one.role !== "user") {
      throw createFieldError(
        field,
        `a part of type ${JSON.stringify(each.type.slice(0, 50))} is not accepted here: send text, and images or PDF files of the user`,
      );
    } else words.files.push(readDataAddress(address, each.file?.filename ?? each.filename, field));
  }
  return words;
}

export function createFieldError(field: string, problem: string): HttpError {
  return new HttpError("USAGE", `the body is not valid at ${field}: ${problem}`, { field });
}
