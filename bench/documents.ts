/**
 * The libraries alone: a provider's body to documents, text to documents, and the arguments of a call to a file edit.
 * The floor parses the same frames as JSON, and finds the lines in the same deltas.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createEventMask } from "@sheaf/agent/output/event-mask";
import { createAssembler } from "@sheaf/documents";
import { createModelStreamDecoder } from "@sheaf/documents/model-streams";
import type { RunEvent, RunEventBody } from "@sheaf/protocol";
import { type Bench, compare, type Figure, toLowerQuartile } from "./support/measure.ts";
import { encodeOpenAi } from "./support/provider.ts";

/** Characters of a delta: about what a token of a model has. */
const deltaLength = 4;
const textLength = 4_000_000;
/** Characters that are prepared, untimed, and then fed at once: little enough to die young. */
const partLength = 40_000;

export const bench: Bench = async (isQuick) => {
  const rounds = isQuick ? 3 : 9;
  const text = loadText();
  const textDeltas = (part: string): RunEventBody[] => cut(part).map((delta) => ({ type: "text_delta", text: delta }));
  const callId = "call_1";
  const file = JSON.stringify({ target_file: "src/add.ts", content: text.slice(0, 1_000_000) });
  const callStart: RunEventBody = {
    type: "tool_call_start",
    callId,
    toolName: "write_file",
    documentType: "file_edit",
  };
  return [
    ...(await compareParts("a frame to documents", text.slice(0, 1_000_000), rounds, createFrameFloor, createFrames)),
    ...(await compareParts("a delta of text to documents, at 4 MB", text, rounds, createLineScan, () => {
      const run = startRun([]);
      return (part) => run.prepare(textDeltas(part));
    })),
    ...(await compareParts("a delta of text, masked", text.slice(0, 1_000_000), rounds, createLineScan, () => {
      const mask = createEventMask();
      return (part) => {
        const events = textDeltas(part).map((delta, index): RunEvent => ({ ...delta, seq: index + 1, time: 0 }));
        return () => events.forEach(mask);
      };
    })),
    ...(await compareParts("a delta of arguments to a file edit", file, rounds, createLineScan, () => {
      const run = startRun([callStart]);
      return (part) => run.prepare(cut(part).map((delta) => ({ type: "tool_call_arguments_delta", callId, delta })));
    })),
  ];
};

/** Takes the next part of a text; only the returned function is timed. */
type Feed = (part: string) => () => void;

/** Nanoseconds of a delta in the last quarter of the text, so that a cost that grows with the length shows. */
function compareParts(
  name: string,
  text: string,
  rounds: number,
  createFloor: () => Feed,
  createSheaf: () => Feed,
): Promise<Figure[]> {
  const measure = async (feed: Feed): Promise<Record<string, number>> => {
    const times: number[] = [];
    for (let at = 0; at + partLength <= text.length; at += partLength) {
      const run = feed(text.slice(at, at + partLength));
      const startedAt = performance.now();
      run();
      times.push(performance.now() - startedAt);
    }
    const last = times.slice(Math.floor(times.length * 0.75));
    return { [name]: (toLowerQuartile(last) * 1e6) / (partLength / deltaLength) };
  };
  return compare({
    units: { [name]: "ns" },
    rounds,
    floor: () => measure(createFloor()),
    sheaf: () => measure(createSheaf()),
  });
}

/** Real answers where the fixtures are, otherwise one that was made up; repeated, and flat in memory. */
function loadText(): string {
  const folder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../shared/fixtures"));
  const answers = join(folder, "markdown/answers");
  const made =
    "# Heading\n\nText with `code` and *more* words.\n\n```ts\nexport const answer = 42;\n```\n\n- one\n- two\n";
  const texts = existsSync(answers)
    ? readdirSync(answers).map((name) => readFileSync(join(answers, name), "utf8"))
    : [];
  // An open fence would swallow the answers after it.
  const closed = texts.filter((text) => (text.match(/^\s*(```|~~~)/gm)?.length ?? 0) % 2 === 0);
  const text = `${closed.length > 0 ? closed.join("\n\n") : made}\n\n`;
  return Buffer.from(text.repeat(Math.ceil(textLength / text.length)))
    .toString("utf8")
    .slice(0, textLength);
}

function cut(part: string): string[] {
  return Array.from({ length: Math.ceil(part.length / deltaLength) }, (_, index) =>
    part.slice(index * deltaLength, (index + 1) * deltaLength),
  );
}

/** The lines of a text, which is the least that can be found in it. */
function createLineScan(): Feed {
  let line = "";
  let longest = 0;
  return (part) => {
    const deltas = cut(part);
    return () => {
      for (const delta of deltas) {
        let from = 0;
        for (let end = delta.indexOf("\n"); end >= 0; end = delta.indexOf("\n", from)) {
          longest = Math.max(longest, line.length + end - from);
          line = "";
          from = end + 1;
        }
        line += delta.slice(from);
      }
    };
  };
}

const toChunks = (part: string): Buffer[] =>
  [...encodeOpenAi({ text: cut(part) }, 0)].map((frame) => Buffer.from(frame));

function createFrameFloor(): Feed {
  let length = 0;
  return (part) => {
    const chunks = toChunks(part);
    return () => {
      for (const chunk of chunks) {
        for (const line of chunk.toString().split("\n")) {
          if (!line.startsWith("data: {")) continue;
          const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
          length += choices[0]?.delta.content?.length ?? 0;
        }
      }
    };
  };
}

/** The bytes of each part are one body; its events go to one assembler. */
function createFrames(): Feed {
  const run = startRun([]);
  return (part) => {
    const chunks = toChunks(part);
    const decoder = createModelStreamDecoder("openai-chat");
    return () => {
      for (const chunk of chunks) {
        for (const event of decoder.push(chunk)) if (event.type !== "turn_end") run.push(event);
      }
    };
  };
}

/** An assembler in the middle of a turn. */
function startRun(before: readonly RunEventBody[]): {
  readonly push: (body: RunEventBody) => void;
  readonly prepare: (bodies: readonly RunEventBody[]) => () => void;
} {
  const assembler = createAssembler();
  let seq = 0;
  const toEvent = (body: RunEventBody): RunEvent => {
    seq += 1;
    return { seq, time: seq, ...body };
  };
  const push = (body: RunEventBody): void => void assembler.push(toEvent(body));
  push({
    type: "run_start",
    responseId: "chat_1",
    conversationId: "conv_1",
    mode: "agent",
    model: "bench",
    modelName: "bench",
    apiKeySource: "none",
    workspace: "/w",
    permissionMode: "default",
    sandbox: "enabled",
    trusted: true,
    sheafVersion: "0.1.0",
    prompt: "go",
  });
  for (const body of [{ type: "turn_start", turn: 1 } as const, ...before]) push(body);
  return {
    push,
    prepare(bodies) {
      const events = bodies.map((body) => toEvent(body));
      return () => {
        for (const event of events) assembler.push(event);
      };
    },
  };
}
