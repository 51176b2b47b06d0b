/** The file format of scripted models, checked. Described in docs/guide/scripted-models.md. */
import type { TurnFinishReason } from "@sheaf/protocol";
import * as z from "zod";
import { isErrorCode, SheafError, type ErrorCode } from "../errors.ts";

const count = z.int().min(1).max(100_000_000);

const textPacing = {
  /** UTF-16 units of a delta; a surrogate pair is never cut. */
  chunk: count.optional(),
  /** Deltas of a group, that is: of what one read of a socket would bring. */
  group: count.optional(),
  /** How often the text comes. */
  repeat: count.optional(),
};

/** A string, or the deltas of one group. */
const deltas = z.union([z.string(), z.array(z.string()).min(1)], {
  error: "expected a string, or an array of strings",
});

const call = z.strictObject({
  tool: z.string().min(1),
  /** An object, or the raw text that the model writes. */
  arguments: z
    .union([z.record(z.string(), z.unknown()), z.string()], { error: "expected an object, or a string with raw text" })
    .default({}),
  chunk: count.optional(),
  /** The provider's id. */
  id: z.string().optional(),
});

const eventSchemas = {
  text: z.strictObject({ text: deltas, ...textPacing }),
  reasoning: z.strictObject({ reasoning: deltas, ...textPacing }),
  call: z.strictObject({ call }),
  calls: z.strictObject({ calls: z.array(call).min(1) }),
  wait_ms: z.strictObject({ wait_ms: z.number().min(0).max(86_400_000) }),
  stall: z.strictObject({ stall: z.literal(true) }),
  error: z.strictObject({
    error: z.strictObject({
      code: z.custom<ErrorCode>((value) => typeof value === "string" && isErrorCode(value), {
        error: "expected a code of the exit table (C20), such as RATE_LIMITED",
      }),
      message: z.string().min(1),
      details: z.string().optional(),
      resets_at: z.iso.datetime({ offset: true }).optional(),
    }),
  }),
  end: z.strictObject({ end: z.literal("truncated") }),
} as const;

type EventName = keyof typeof eventSchemas;
const eventNames = Object.keys(eventSchemas) as EventName[];

export type ScriptedEvent = { [Name in EventName]: z.infer<(typeof eventSchemas)[Name]> }[EventName];
export type ScriptedCall = z.infer<typeof call>;

/** The schema of an event goes by the one key that names it, so that a mistake is told in terms of that event. */
const event = z.unknown().transform((value, context): ScriptedEvent => {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isObject ? eventNames.filter((name) => Object.hasOwn(value, name)) : [];
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const message = `expected an object with exactly one of ${eventNames.join(", ")}`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  const parsed = eventSchemas[name].safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: "custom", path, message });
  return z.NEVER;
});

const finishReasons = [
  "stop",
  "tool_calls",
  "max_tokens",
  "content_filter",
  "refusal",
] as const satisfies readonly TurnFinishReason[];
const tokens = z.int().min(0);

const turn = z.strictObject({
  events: z.array(event),
  finish: z.enum(finishReasons).optional(),
  usage: z
    .strictObject({
      promptTokens: tokens,
      completionTokens: tokens,
      totalTokens: tokens.optional(),
      reasoningTokens: tokens.optional(),
      cachedPromptTokens: tokens.optional(),
      cacheWriteTokens: tokens.optional(),
    })
    .optional(),
});

const script = z.strictObject({
  name: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  turns: z.array(turn).min(1),
  after: z.enum(["error", "repeat_last", "loop"]).optional(),
});

export type Script = z.infer<typeof script>;
export type ScriptedTurn = Script["turns"][number];

/**
 * A script from the text of its file.
 * @throws SheafError CONFIG_INVALID that names the file, the place in it and what was expected.
 */
export function parseScriptText(text: string, file: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SheafError("CONFIG_INVALID", toOneLine(`the scripted model ${file} is no JSON: ${reason}`), {
      cause: error,
    });
  }
  return parseScript(value, file);
}

/**
 * A script from a value.
 * @throws SheafError CONFIG_INVALID that names the script, the place in it and what was expected.
 */
export function parseScript(value: unknown, name: string): Script {
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const others = parsed.error.issues.length - 1;
  const problem = first ? `${formatPath(first.path)}: ${first.message}` : "unknown problem";
  const more = others > 0 ? ` (and ${others} more)` : "";
  throw new SheafError(
    "CONFIG_INVALID",
    toOneLine(
      `the scripted model ${name} is not valid at ${problem}${more}; the format is in docs/guide/scripted-models.md`,
    ),
    {
      cause: parsed.error,
      details: parsed.error.issues.map((issue) => `${formatPath(issue.path)}: ${issue.message}`).join("\n"),
    },
  );
}

/** `turns[0].events[2].text`. */
function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text === "" ? "" : "."}${String(key)}`;
  return text === "" ? "its top level" : text;
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
