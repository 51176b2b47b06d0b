/** From the body of a chat completion to a message, and what was said before it (X20, X21). */
import type { ChatAttachment, ChatRequest } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { chatSettings } from "@sheaf/protocol/schemas";
import type { PastTurn } from "../run/conversations/past-turns.ts";
import { readDataAddress, toFiles } from "./data-address.ts";
import { HttpError } from "./http-error.ts";
import type { LargeBody } from "./json-body.ts";

const part = s.object({
  type: s.string(),
  text: s.optional(s.string()),
  image_url: s.optional(s.object({ url: s.string() })),
  file: s.optional(s.object({ file_data: s.optional(s.string()), filename: s.optional(s.string()) })),
});

/** A part of a message. */
interface Part extends s.ValueOf<typeof part> {}

/** What the agent cannot do is refused, not ignored. An empty list asks for nothing. */
const refused = (expected: string, isNothing: (value: unknown) => boolean = (value) => Array.isArray(value)) =>
  s.optional(
    s.refine(s.anything(), expected, (value) => (Array.isArray(value) ? value.length === 0 : isNothing(value))),
  );

const roles = ["system", "developer", "user", "assistant"];

const message = s.object({
  role: s.refine(s.string(), `one of ${roles.join(", ")}; the agent takes results of its own tools only`, (role) =>
    roles.includes(role),
  ),
  content: s.optional(s.either([s.string(), s.list<Part>(part)])),
  tool_calls: refused("none: the agent calls its own tools only"),
});

interface Message extends s.ValueOf<typeof message> {}

const efforts = { none: "off", minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" } as const;
const noTools = "none: the agent has tools of its own, and calls none of the client";

/** Fields that it does not name are ignored. */
export const openAiRequest = s.extend(chatSettings, {
  messages: s.list<Message>(message, { minItems: 1 }),
  stream: s.optional(s.boolean()),
  stream_options: s.optional(s.object({ include_usage: s.optional(s.boolean()) })),
  reasoning_effort: s.optional(s.choice(["none", "minimal", "low", "medium", "high", "xhigh"])),
  tools: refused(noTools),
  functions: refused(noTools),
  stop: refused("none: the agent ends by itself"),
  audio: refused("none: the agent answers with text"),
  n: refused("1: the agent gives one answer", (value) => value === 1),
  logprobs: refused("false: the agent has none", (value) => value === false),
  response_format: refused('{"type": "text"}', (value) => (value as { readonly type?: unknown }).type === "text"),
});

export interface OpenAiRequest extends s.ValueOf<typeof openAiRequest> {}

/** Files have the limit of attachments (S-55). Its clients send null for what they leave out. */
export const largeCompletion: LargeBody<OpenAiRequest> = {
  largest: 15 * 1024 * 1024,
  dropsNull: true,
  measureFree: ({ messages }) =>
    messages.flatMap(listParts).reduce((sum, each) => sum + (toAddress(each)?.length ?? 0), 0),
};

/** What one side said until the other one did. */
interface Words {
  readonly texts: string[];
  readonly files: ChatAttachment[];
}

/** The last words of the user are the message; what was before are turns. @throws HttpError, SheafError USAGE. */
export function toMessage(request: OpenAiRequest): { readonly body: ChatRequest; readonly past: readonly PastTurn[] } {
  const { messages, stream = false, stream_options: _options, reasoning_effort: effort, ...settings } = request;
  const last = messages.length - 1;
  if (messages[last]!.role !== "user")
    throw createFieldError(`messages.${last}.role`, "the last message is not the user's: end with one");
  const system = [settings.appendSystemPrompt ?? ""];
  const past: PastTurn[] = [];
  let user: Words = { texts: [], files: [] };
  let answer: string[] = [];
  for (const [index, one] of messages.entries()) {
    const { texts, files } = toWords(one, index);
    if (one.role === "assistant") answer.push(...texts);
    else if (one.role !== "user") system.push(...texts);
    else {
      if (answer.length > 0) {
        past.push({ prompt: join(user.texts), attachments: toFiles(user.files), answer: join(answer) });
        user = { texts: [], files: [] };
        answer = [];
      }
      user.texts.push(...texts);
      user.files.push(...files);
    }
  }
  if (join(user.texts) === "" && user.files.length === 0)
    throw createFieldError(`messages.${last}.content`, "the message is empty: write something");
  const words = { message: join(user.texts), attachments: user.files, appendSystemPrompt: join(system) };
  return {
    body: { onDisconnect: "cancel", ...(effort && { effort: efforts[effort] }), ...settings, ...words, stream },
    past,
  };
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function listParts({ content = "" }: Message): readonly Part[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function toAddress({ image_url, file }: Part): string | undefined {
  return image_url?.url ?? file?.file_data;
}

function toWords(one: Message, index: number): Words {
  const words: Words = { texts: [], files: [] };
  for (const [place, each] of listParts(one).entries()) {
    const field = `messages.${index}.content.${place}`;
    const address = toAddress(each);
    if (each.type === "text") words.texts.push(each.text ?? "");
    else if (address === undefined || one.role !== "user") {
      throw createFieldError(
        field,
        `a part of type ${JSON.stringify(each.type.slice(0, 50))} is not accepted here: send text, and images or PDF files of the user`,
      );
    } else words.files.push(readDataAddress(address, each.file?.filename, field));
  }
  return words;
}

function createFieldError(field: string, problem: string): HttpError {
  return new HttpError("USAGE", `the body is not valid at ${field}: ${problem}`, { field });
}
