/** A response of a stored session, as tests and comparisons of sessions have it (C190). */
import { isErrorCode } from "@sheaf/base/errors";
import * as s from "@sheaf/protocol/schema";

const filledText = s.string({ minLength: 1 });
const count = s.integer({ minimum: 0 });

const callFields = {
  tool: filledText,
  /** As an object, or as the model's text if that does not parse. */
  arguments: s.optional(s.either([s.record(s.anything()), s.string()])),
  /** Default: success. */
  status: s.optional(s.choice(["error", "rejected", "cancelled"])),
  /** What the model saw. */
  returns: s.optional(s.string()),
} as const;

const turnFields = {
  text: s.optional(s.string()),
  /** The model wrote a summary of the conversation, and no answer. */
  summary: s.optional(s.string()),
  /** The answer broke off, so Sheaf repeated its request. */
  breaks: s.optional(s.literal(true)),
  /** The model's words as events of a scripted model, if Sheaf reads other calls or texts from them. */
  sends: s.optional(s.list(s.anything())),
  /** The reason why the answer ended, if that says more than its calls. */
  finish: s.optional(s.choice(["max_tokens", "content_filter", "refusal"])),
  /** Code of the failure by which the request ended. */
  fails: s.optional(s.refine(filledText, "a code such as RATE_LIMITED", isErrorCode)),
  /** Decides when the conversation is summarised. */
  usage: s.optional(s.strict(s.object({ promptTokens: count, completionTokens: count }))),
} as const;

const agentTurn = s.strict(s.object({ ...turnFields, calls: s.optional(s.list(s.strict(s.object(callFields)))) }));

/** `turns`: the answers of the subagent that the call runs. */
const call = s.strict(s.object({ ...callFields, turns: s.optional(s.list(agentTurn)) }));

const turn = s.strict(s.object({ ...turnFields, calls: s.optional(s.list(call)) }));

export const testResponse = s.strict(
  s.object({
    prompt: s.string(),
    attachments: s.optional(s.list(s.strict(s.object({ name: filledText, base64: s.base64() })))),
    /** The user asked for a summary, and for no answer. */
    shortens: s.optional(s.literal(true)),
    mode: s.optional(s.choice(["agent", "plan", "ask", "debug"])),
    /** The window of the model. Tokens. */
    window: s.optional(count),
    /** Prints of what the model is sent, by its part. */
    sent: s.optional(s.record(s.string())),
    turns: s.list(turn),
    /** The way it ended; default: completed. */
    end: s.optional(filledText),
  }),
);

export interface TestResponse extends s.ValueOf<typeof testResponse> {}
export type TestTurn = TestResponse["turns"][number];
export type TestCall = NonNullable<TestTurn["calls"]>[number];
