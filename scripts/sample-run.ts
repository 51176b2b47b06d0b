/** What typical runs call: the built program answers prompts with a model on 127.0.0.1, and V8 notes each function. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** By file, absolute: the functions that were called, each as `start:end` in its text. Files that nobody loaded are left out. */
export type CalledFunctions = ReadonlyMap<string, ReadonlySet<string>>;

/** One prompt: the model, and the bodies of its answers. */
interface Sample {
  readonly model: string;
  readonly answers: readonly string[];
}

const toEvents = (...payloads: readonly unknown[]): string =>
  payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join("");

const answerText = "# Done\n\nOne line with `code`.\n\n- one\n- two\n\n```ts\nconst one = 1;\n```\n";

function toToolCall(id: string, name: string, args: object): string {
  const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return toEvents(
    { choices: [{ index: 0, delta: { content: "I look." } }] },
    { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] },
  );
}

const edit = { old_string: "one\n", new_string: "two\n" };

/** A request writer and a protocol each; the first one has the tools of most turns. */
const samples: readonly Sample[] = [
  {
    model: "openai-compatible/m",
    answers: [
      toToolCall("c1", "read_file", { target_file: "file.txt" }),
      toToolCall("c2", "edit_file", { target_file: "file.txt", edits: [edit] }),
      toToolCall("c3", "run_terminal_cmd", { command: "true" }),
      toEvents({ choices: [{ index: 0, delta: { content: answerText }, finish_reason: "stop" }] }),
    ],
  },
  {
    model: "openai/m",
    answers: [
      toEvents(
        { type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0, delta: answerText },
        { type: "response.completed", response: { id: "r", status: "completed", output: [] } },
      ),
    ],
  },
  {
    model: "anthropic/m",
    answers: [
      toEvents(
        { type: "message_start", message: { id: "m", usage: { input_tokens: 1, output_tokens: 0 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: answerText } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ),
    ],
  },
  {
    model: "google/m",
    answers: [
      toEvents({ candidates: [{ content: { role: "model", parts: [{ text: answerText }] }, finishReason: "STOP" }] }),
    ],
  },
];

/** Seconds for one sample: where 127.0.0.1 cannot be reached, a run would try again for long. */
const sampleSeconds = 60;

/** What goes on beside an answer ends before it, as with a real model: else the functions of a race differ from build to build. */
const answerMs = 250;

/**
 * Runs the samples beside each other. `program`: the file that Node starts.
 * @throws if one of them fails, once all have ended, so that nothing is left behind.
 */
export async function findCalledFunctions(program: string): Promise<CalledFunctions> {
  const server = await startModel();
  const folder = mkdtempSync(join(tmpdir(), "sheaf-sample-"));
  try {
    const { port } = server.address() as AddressInfo;
    const coverage = join(folder, "coverage");
    const runs = samples.map(({ model }, index) => {
      const args = [
        "-p",
        "--model",
        model,
        "--base-url",
        `http://127.0.0.1:${port}/${index}`,
        "--api-key",
        "none",
        "--timeout",
        `${sampleSeconds}`,
        "go",
      ];
      return runSample([program, ...args], join(folder, `${index}`), coverage);
    });
    for (const run of await Promise.allSettled(runs)) if (run.status === "rejected") throw run.reason;
    return readCoverage(coverage);
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of a request begins with the number of its sample. */
async function startModel(): Promise<Server> {
  const left = samples.map(({ answers }) => [...answers]);
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const [, index] = (request.url ?? "").split("/");
      response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
      setTimeout(() => response.end(left[Number(index)]?.shift()), answerMs);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

async function runSample(words: readonly string[], folder: string, coverage: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, "file.txt"), "one\n");
  const env = { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: join(folder, "home"), NODE_V8_COVERAGE: coverage };
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) {
    const advice = "the build runs it with a model on 127.0.0.1, which must be reachable";
    throw new Error(`sheaf ${words.slice(1).join(" ")} ended with ${code}; ${advice}: ${output}`);
  }
}

/** As V8 writes it. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      /** The first one is the whole function. */
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

function readCoverage(folder: string): CalledFunctions {
  const called = new Map<string, Set<string>>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith("file:")) continue;
      const file = fileURLToPath(url);
      const ranges = functions.flatMap(({ ranges: [whole] }) => (whole && whole.count > 0 ? [whole] : []));
      const known = called.get(file) ?? new Set();
      for (const { startOffset, endOffset } of ranges) known.add(`${startOffset}:${endOffset}`);
      called.set(file, known);
    }
  }
  return called;
}
