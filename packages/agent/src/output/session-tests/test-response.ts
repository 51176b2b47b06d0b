/** A response of a stored session, as tests and comparisons of sessions have it (C190). */
import { isErrorCode } from "@sheaf/base/errors";
import * as s from "@sheaf/protocol/schema";

const filledText = s.string({ minLength: 1 });
const count = s.integer({ minimum: 0 });

const callFields = {
  tool: filledText,
  /** Arguments as an object, or the model's text if that doesn't parse. */
  arguments: s.optional(s.either([s.record(s.anything()), s.string()])),
  /** Status of the result; default: success. */
  status: s.optional(s.choice(["error", "rejected", "cancelled"])),
  /** Text of the result for the model. */
  returns: s.optional(s.string()),
} as const;

const turnFields = {
  text: s.optional(s.string()),
  /** True if the model wrote a summary of the conversation instead of an answer. */
  summary: s.optional(s.string()),
  /** True if the answer broke off, so that Sheaf repeated its request. */
  breaks: s.optional(s.literal(true)),
  /** Answer as events of a scripted model, if Sheaf understands it differently. */
  sends: s.optional(s.list(s.anything())),
  /** The reason why the answer ended, if that says more than its calls. */
  finish: s.optional(s.choice(["max_tokens", "content_filter", "refusal"])),
  /** Code of the request's failure. */
  fails: s.optional(s.refine(filledText, "a code such as RATE_LIMITED", isErrorCode)),
  /** Number of tokens, which determines when Sheaf summarises the conversation. */
  usage: s.optional(s.strict(s.object({ promptTokens: count, completionTokens: count }))),
} as const;

const agentTurn = s.strict(s.object({ ...turnFields, calls: s.optional(s.list(s.strict(s.object(callFields)))) }));

/** A call. `turns`: the answers of the subagent that it starts. */
const call = s.strict(s.object({ ...callFields, turns: s.optional(s.list(agentTurn)) }));

const turn = s.strict(s.object({ ...turnFields, calls: s.optional(s.list(call)) }));

export const testResponse = s.strict(
  s.object({
    prompt: s.string(),
    attachments: s.optional(s.list(s.strict(s.object({ name: filledText, base64: s.base64() })))),
    /** True if the user requested a summary instead of an answer. */
    shortens: s.optional(s.literal(true)),
    mode: s.optional(s.choice(["agent", "plan", "ask", "debug"])),
    /** Context window of the model, in tokens. */
    window: s.optional(count),
    /** Hashes of the input to the model, by part. */
    sent: s.optional(s.record(s.string())),
    turns: s.list(turn),
    /** Status at the end; default: completed. */
    end: s.optional(filledText),
  }),
);

export interface TestResponse extends s.ValueOf<typeof testResponse> {}
export type TestTurn = TestResponse["turns"][number];
export type TestCall = NonNullable<TestTurn["calls"]>[number];
