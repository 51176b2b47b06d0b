/** Checks the file format of scripted models, which docs/reference/scripted-models.md describes. */
import type { TurnFinishReason } from "@sheaf/protocol";
import { formatProblem, isJsonObject, listProblems, placeWithin, type Problem } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { isErrorCode, SheafError, type ErrorCode } from "@sheaf/base/errors";
import { toOneLine } from "@sheaf/base/to-one-line";

const count = s.integer({ minimum: 1, maximum: 100_000_000 });
const filledText = s.string({ minLength: 1 });

const textPacing = {
  /** UTF-16 units of a delta; a surrogate pair is never cut. */
  chunk: s.optional(count),
  /** Deltas of a group, which one read of a socket would contain. */
  group: s.optional(count),
  /** Number of repetitions of the text. */
  repeat: s.optional(count),
};

/** A string, or the deltas of one group. */
const deltas = s.refine(
  s.either([s.string(), s.list(s.string(), { minItems: 1 })]),
  "a string, or an array of strings",
);

const call = s.object({
  tool: filledText,
  /** An object, or the raw text that the model writes. Default: an empty object. */
  arguments: s.optional(s.either([s.record(s.anything()), s.string()])),
  chunk: s.optional(count),
  id: s.optional(s.string()),
});

export interface ScriptedCall extends s.ValueOf<typeof call> {}

const errorCode = s.refine(
  s.string(),
  "a code of the exit table (C20), such as RATE_LIMITED",
  isErrorCode,
) as s.Schema as s.Schema<ErrorCode>;

const eventSchemas = {
  text: s.object({ text: deltas, ...textPacing }),
  reasoning: s.object({ reasoning: deltas, ...textPacing }),
  call: s.object({ call: s.strict<ScriptedCall>(call) }),
  calls: s.object({ calls: s.list(s.strict<ScriptedCall>(call), { minItems: 1 }) }),
  wait_ms: s.object({ wait_ms: s.number({ minimum: 0, maximum: 86_400_000 }) }),
  stall: s.object({ stall: s.literal(true) }),
  error: s.object({
    error: s.strict(
      s.object({
        code: errorCode,
        message: filledText,
        details: s.optional(s.string()),
        resets_at: s.optional(s.string({ format: "date-time" })),
      }),
    ),
  }),
  end: s.object({ end: s.literal("truncated") }),
} as const;

type EventName = keyof typeof eventSchemas;
const eventNames = Object.keys(eventSchemas) as EventName[];

export type ScriptedEvent = { [Name in EventName]: s.ValueOf<(typeof eventSchemas)[Name]> }[EventName];

const finishReasons = [
  "stop",
  "tool_calls",
  "max_tokens",
  "content_filter",
  "refusal",
] as const satisfies readonly TurnFinishReason[];
const tokens = s.integer({ minimum: 0 });

const turn = s.object({
  /** Events, checked one by one. */
  events: s.list(s.anything() as s.Schema<ScriptedEvent>),
  finish: s.optional(s.choice(finishReasons)),
  usage: s.optional(
    s.strict(
      s.object({
        promptTokens: tokens,
        completionTokens: tokens,
        totalTokens: s.optional(tokens),
        reasoningTokens: s.optional(tokens),
        cachedPromptTokens: s.optional(tokens),
        cacheWriteTokens: s.optional(tokens),
      }),
    ),
  ),
});

/** The model's answer to one request. */
export interface ScriptedTurn extends s.ValueOf<typeof turn> {}

const script = s.object({
  name: s.optional(filledText),
  model: s.optional(filledText),
  turns: s.list(s.strict<ScriptedTurn>(turn), { minItems: 1 }),
  after: s.optional(s.choice(["error", "repeat_last", "loop"])),
  /** Answers of subagents, by their names. Each subagent starts with the first turn of its list. */
  agents: s.optional(s.record(s.list(s.strict<ScriptedTurn>(turn), { minItems: 1 }))),
});

export interface Script extends s.ValueOf<typeof script> {}

function listScriptProblems(value: unknown): readonly Problem[] {
  const problems = listProblems(s.strict(script), value);
  if (problems.length > 0) return problems;
  const { turns, agents = {} } = value as Script;
  const listTurnProblems = (list: readonly ScriptedTurn[], path: readonly (string | number)[]): readonly Problem[] =>
    list.flatMap(({ events }, index) =>
      events.flatMap((event, place) => placeWithin([...path, index, "events", place], listEventProblems(event))),
    );
  return [
    ...listTurnProblems(turns, ["turns"]),
    ...Object.entries(agents).flatMap(([name, list]) => listTurnProblems(list, ["agents", name])),
  ];
}

/** Lists problems of an event. Its one key selects its schema, so that they fit that event. */
function listEventProblems(event: unknown): readonly Problem[] {
  const [name, ...others] = isJsonObject(event) ? eventNames.filter((each) => Object.hasOwn(event, each)) : [];
  if (name !== undefined && others.length === 0) return listProblems(s.strict<unknown>(eventSchemas[name]), event);
  const schema = s.refine(s.anything(), `an object with exactly one of ${eventNames.join(", ")}`);
  return [{ path: [], reason: "wrong", schema, value: event }];
}

/** Parses a script from its file's text. @throws SheafError CONFIG_INVALID with file, place and the expected value. */
export function parseScriptText(text: string, file: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SheafError("CONFIG_INVALID", toOneLine(`the scripted model ${file} is not JSON: ${reason}`), {
      cause: error,
    });
  }
  return parseScript(value, file);
}

/** Parses a script from a value. @throws SheafError CONFIG_INVALID with script, place and the expected value. */
export function parseScript(value: unknown, name: string): Script {
  const problems = listScriptProblems(value).map(
    (problem) => `${problem.path.length === 0 ? "its top level: " : ""}${formatProblem(problem, true)}`,
  );
  if (problems.length === 0) return value as Script;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new SheafError(
    "CONFIG_INVALID",
    toOneLine(`the scripted model ${name} is not valid at ${problems[0]}${more}`),
    { details: problems.join("\n") },
  );
}
