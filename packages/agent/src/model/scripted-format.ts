/** The file format of scripted models, checked. Described in docs/guide/scripted-models.md. */
import type { TurnFinishReason } from "@sheaf/protocol";
import * as z from "zod/mini";
import createEnglishMessages from "zod/v4/locales/en.js";
import { isErrorCode, SheafError, type ErrorCode } from "../base/errors.ts";

/** The small edition of zod has no messages of its own. */
const { localeError } = createEnglishMessages();

const count = z.int().check(z.gte(1), z.lte(100_000_000));
const filledText = z.string().check(z.minLength(1));

const textPacing = {
  /** UTF-16 units of a delta; a surrogate pair is never cut. */
  chunk: z.optional(count),
  /** Deltas of a group, that is: of what one read of a socket would bring. */
  group: z.optional(count),
  /** How often the text comes. */
  repeat: z.optional(count),
};

/** A string, or the deltas of one group. */
const deltas = z.union([z.string(), z.array(z.string()).check(z.minLength(1))], {
  error: "expected a string, or an array of strings",
});

const call = z.strictObject({
  tool: filledText,
  /** An object, or the raw text that the model writes; without them an empty object. */
  arguments: z.optional(
    z.union([z.record(z.string(), z.unknown()), z.string()], {
      error: "expected an object, or a string with raw text",
    }),
  ),
  chunk: z.optional(count),
  /** The provider's id. */
  id: z.optional(z.string()),
});

const eventSchemas = {
  text: z.strictObject({ text: deltas, ...textPacing }),
  reasoning: z.strictObject({ reasoning: deltas, ...textPacing }),
  call: z.strictObject({ call }),
  calls: z.strictObject({ calls: z.array(call).check(z.minLength(1)) }),
  wait_ms: z.strictObject({ wait_ms: z.number().check(z.gte(0), z.lte(86_400_000)) }),
  stall: z.strictObject({ stall: z.literal(true) }),
  error: z.strictObject({
    error: z.strictObject({
      code: z.custom<ErrorCode>((value) => typeof value === "string" && isErrorCode(value), {
        error: "expected a code of the exit table (C20), such as RATE_LIMITED",
      }),
      message: filledText,
      details: z.optional(z.string()),
      resets_at: z.optional(z.iso.datetime({ offset: true })),
    }),
  }),
  end: z.strictObject({ end: z.literal("truncated") }),
} as const;

type EventName = keyof typeof eventSchemas;
const eventNames = Object.keys(eventSchemas) as EventName[];

export type ScriptedEvent = { [Name in EventName]: z.infer<(typeof eventSchemas)[Name]> }[EventName];
export type ScriptedCall = z.infer<typeof call>;

/** The schema of an event goes by the one key that names it, so that a mistake is told in terms of that event. */
const toEvent = z.transform((value: unknown, context): ScriptedEvent => {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const names = isObject ? eventNames.filter((name) => Object.hasOwn(value, name)) : [];
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const message = `expected an object with exactly one of ${eventNames.join(", ")}`;
    context.issues.push({ code: "custom", message, input: value });
    return z.NEVER;
  }
  const parsed = eventSchemas[name].safeParse(value, { error: localeError });
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues) {
    context.issues.push({ code: "custom", path, message, input: value });
  }
  return z.NEVER;
});
const event = z.pipe(z.unknown(), toEvent);

const finishReasons = [
  "stop",
  "tool_calls",
  "max_tokens",
  "content_filter",
  "refusal",
] as const satisfies readonly TurnFinishReason[];
const tokens = z.int().check(z.gte(0));

const turn = z.strictObject({
  events: z.array(event),
  finish: z.optional(z.enum(finishReasons)),
  usage: z.optional(
    z.strictObject({
      promptTokens: tokens,
      completionTokens: tokens,
      totalTokens: z.optional(tokens),
      reasoningTokens: z.optional(tokens),
      cachedPromptTokens: z.optional(tokens),
      cacheWriteTokens: z.optional(tokens),
    }),
  ),
});

const script = z.strictObject({
  name: z.optional(filledText),
  model: z.optional(filledText),
  turns: z.array(turn).check(z.minLength(1)),
  after: z.optional(z.enum(["error", "repeat_last", "loop"])),
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
  const parsed = script.safeParse(value, { error: localeError });
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
