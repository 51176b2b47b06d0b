/** Very many tiny deltas of a model, through the built program to its lines: linear time, bounded memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type Document, type StreamEvent } from "@sheaf/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWhere, notLinux } from "../support/describe-where.ts";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { watchMemory } from "../support/process-memory.ts";
import { createTestFolder, runProgram, toLines } from "../support/sheaf.ts";
import { reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const isSoak = process.env.SHEAF_SOAK === "1";
const count = isSoak ? 200_000 : 10_000;

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

type Delta = Readonly<Record<string, unknown>>;

const toEvent = (delta: Delta, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** Deltas as one body, in writes of a socket's size. */
function toChunks(deltas: readonly Delta[], finish: string): string[] {
  const events = [...deltas.map((delta) => toEvent(delta)), toEvent({}, finish), "data: [DONE]\n\n"];
  return Array.from({ length: Math.ceil(events.length / 100) }, (_, index) =>
    events.slice(index * 100, index * 100 + 100).join(""),
  );
}

/**
 * Four characters each, a line end in every tenth; after them a word, because blanks at the end of a text are cut. They
 * count, since a text that repeats itself is ended (C49).
 */
const toPieces = (length: number): string[] => [
  ...Array.from({ length }, (_, index) => `${toWord(index)}${index % 10 === 9 ? "\n" : " "}`),
  "End.",
];
const toWord = (index: number): string => (index % 36 ** 3).toString(36).padStart(3, "0");

const toText = (content: string): Delta => ({ content });
const toArguments = (text: string): Delta => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });
const writeCall: Delta = {
  tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "write_file", arguments: "" } }],
};

const readContents = (documents: readonly Document[], type: "text" | "code_block"): string =>
  documents.flatMap((document) => (document.type === type ? [document.content] : [])).join("");

interface Shape {
  readonly toDeltas: (pieces: readonly string[]) => readonly Delta[];
  readonly finish: "stop" | "tool_calls";
  /** The text as it arrived at the end of the way. */
  readonly read: (documents: readonly Document[], cwd: string) => string;
}

const shapes: Readonly<Record<string, Shape>> = {
  paragraphs: {
    toDeltas: (pieces) => pieces.map(toText),
    finish: "stop",
    read: (documents) => readContents(documents, "text"),
  },
  "one line": {
    toDeltas: (pieces) => pieces.map((piece) => toText(piece.replace("\n", " "))),
    finish: "stop",
    read: (documents) => readContents(documents, "text").replace(/(.{39}) /g, "$1\n"),
  },
  "one code block": {
    toDeltas: (pieces) => ["```js\n", ...pieces, "\n```\n"].map(toText),
    finish: "stop",
    read: (documents) => readContents(documents, "code_block"),
  },
  "the arguments of a call": {
    toDeltas: (pieces) => [
      writeCall,
      ...['{"target_file":"a.txt","content":"', ...pieces.map((piece) => piece.replace("\n", "\\n")), '"}'].map(
        toArguments,
      ),
    ],
    finish: "tool_calls",
    read: (_, cwd) => readFileSync(join(cwd, "a.txt"), "utf8"),
  },
};

async function runDeltas(shape: Shape, length: number) {
  const pieces = toPieces(length);
  const answers = [{ chunks: toChunks(shape.toDeltas(pieces), shape.finish) }];
  if (shape.finish === "tool_calls") answers.push({ chunks: toChunks([toText("Done.")], "stop") });
  server.answer(...answers);
  const cwd = folders.newFolder();
  const model = ["--model", "openai-chat/m", "--base-url", server.url, "--api-key", "k"];
  let watch: ReturnType<typeof watchMemory> | undefined;
  const args = ["-p", ...model, "--force", "--sandbox", "disabled", "--output-format", "documents-stream", "go"];
  const { code, stderr, stdout, duration } = await runProgram(args, {
    cwd,
    onStart: (child) => (watch = watchMemory(child.pid!, 5)),
  });
  watch!.stop();
  expect([code, stderr]).toEqual([0, ""]);
  const events = toLines(stdout).map((line) => JSON.parse(line) as StreamEvent);
  expect(events.at(-1)?.event).toBe("done");
  const { documents } = reduce(events);
  expect(shape.read(documents, cwd) === pieces.join(""), "every delta arrived").toBe(true);
  return { duration, memory: watch!.highest(), events: events.length };
}

describeWhere("very many tiny deltas", notLinux, () => {
  test.each(Object.entries(shapes))(
    verifies(["R-22", "N43"], "as %s arrive whole, in bounded memory, before a minute is over"),
    async (name, shape) => {
      const { memory: usual } = await runDeltas(shape, 10);
      const { duration, memory, events } = await runDeltas(shape, count);
      const growth = (memory - usual) / 2 ** 20;
      expect(duration).toBeLessThan(60_000);
      expect(growth).toBeLessThan(150);
      if (!isSoak) return;
      const quarter = await runDeltas(shape, count / 4);
      const times = `${(duration / 1000).toFixed(1)} s, a quarter of them ${(quarter.duration / 1000).toFixed(1)} s`;
      reportFigure("R-22", `${count} deltas as ${name}: ${events} events, ${times}, +${growth.toFixed(0)} MiB`);
    },
    soakTimeout,
  );
});
