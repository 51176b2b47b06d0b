/** Plays a model for the built program: a local server gives the answers of a behaviour, and keeps the requests. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const program = join(import.meta.dirname, "../packages/cli/bin/sheaf.js");

/** One answer of the model. Arguments given as a text go out as they are. */
export interface Turn {
  readonly text?: string;
  readonly calls?: readonly (readonly [tool: string, args: object | string])[];
  readonly finish?: string;
  /** In place of an answer: an error of the provider. */
  readonly status?: number;
}

export interface Behaviour {
  readonly name: string;
  readonly turns: readonly Turn[];
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The model never sees it. */
  readonly judge: (played: Played) => boolean;
}

export interface Played {
  readonly code: number | null;
  readonly stderr: string;
  /** The result as `--output-format json` prints it. */
  readonly result: { readonly result?: string; readonly [field: string]: unknown };
  readonly requests: number;
  /** All that the model saw in its last request, as JSON. */
  readonly seen: string;
  /** A file of the workspace after the run; "" if it is missing. */
  readonly read: (path: string) => string;
}

export async function play({ turns, files = {}, args = [] }: Behaviour): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-evals-"));
  const cwd = join(folder, "workspace");
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString());
      answer(response, turns[bodies.length - 1] ?? turns.at(-1)!, bodies.length);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const words = ["-p", "--output-format", "json", "--model", "openai-compatible/m", "--base-url", address];
  const fixed = ["--sandbox", "disabled", "--force"];
  try {
    const ended = await runSheaf([...words, ...fixed, ...args, "Do the task."], cwd, join(folder, "home"));
    const { messages = [] } = JSON.parse(bodies.at(-1) ?? "{}") as { messages?: unknown[] };
    const read = (path: string): string => readOr(join(cwd, path));
    const contents = Object.fromEntries(
      Object.keys(files)
        .concat("new.txt")
        .map((path) => [path, read(path)]),
    );
    return {
      ...ended,
      result: parseLast(ended.stdout),
      requests: bodies.length,
      seen: JSON.stringify(messages),
      read: (path) => contents[path] ?? "",
    };
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function answer(response: ServerResponse, turn: Turn, number: number): void {
  if (turn.status !== undefined) {
    response.writeHead(turn.status, { "content-type": "application/json", "retry-after": "0" });
    response.end(JSON.stringify({ error: { message: "played", type: "server_error" } }));
    return;
  }
  const send = (delta: object, finish: string | null = null): void => {
    const chunk = { id: "x", object: "chat.completion.chunk", created: 1, model: "m" };
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ role: "assistant", content: turn.text ?? "" });
  for (const [index, [name, args]] of (turn.calls ?? []).entries()) {
    const text = typeof args === "string" ? args : JSON.stringify(args);
    const call = { index, id: `call_${number}_${index}`, type: "function", function: { name, arguments: text } };
    send({ tool_calls: [call] });
  }
  send({}, turn.finish ?? (turn.calls ? "tool_calls" : "stop"));
  response.end("data: [DONE]\n\n");
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program with its own home folder. */
export async function runSheaf(
  words: readonly string[],
  cwd: string,
  home: string,
  environment: NodeJS.ProcessEnv = { PATH: process.env.PATH },
): Promise<Ended> {
  const env = { ...environment, HOME: home, SHEAF_HOME: home, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  const child = spawn(process.execPath, [program, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  return { code, stdout, stderr };
}

export function parseLast(stdout: string): Played["result"] {
  try {
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Played["result"];
  } catch {
    return {};
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
