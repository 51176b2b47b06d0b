/** Runs the built command line, in the process of the test or in its own. */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterAll, onTestFinished } from "vitest";
import type * as Main from "../../packages/cli/src/main.ts";
import { createMemoryPorts } from "./memory-ports.ts";
import { parseValidLines } from "./schema-check.ts";

/** The program under test. */
export const sheafProgram = join(import.meta.dirname, "../../packages/cli/bin/sheaf.js");

/** Compiled code for all starts of the tests. With a new folder of Sheaf's own, a third of a start's time is compiling. */
export const compiledCode = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/sheaf-tests"),
} as const;

/** A folder for each test file, removed at the end. */
export function createTestFolder(): { readonly path: string; readonly newFolder: (files?: Files) => string } {
  const path = mkdtempSync(join(tmpdir(), "sheaf-test-"));
  // A process that just ended may still have written there.
  afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  let count = 0;
  return {
    path,
    newFolder(files = {}) {
      const folder = join(path, `${(count += 1)}`);
      writeFiles(folder, files);
      return folder;
    },
  };
}

/** Contents by relative path. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

function writeFiles(folder: string, files: Files): void {
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** A folder for one test, removed at its end. Default: a README is in it. */
export function createWorkspace(
  onEnd: (end: () => void) => void,
  files: Files = { "README.md": "# A project\n" },
): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-test-"));
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const cwd = join(folder, "project");
  writeFiles(cwd, files);
  return cwd;
}

/** How a run is started. */
export interface SheafOptions {
  readonly cwd: string;
  /** Folder of the store; default: `<cwd>/../home`, so that runs of one test file share a store. */
  readonly home?: string;
  /** Text for stdin, which is then closed. Default: no stdin. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Path under which Sheaf is started. */
  readonly program?: string;
}

/** How a process is started, for tests of the process itself. */
export interface ProgramOptions extends SheafOptions {
  /** Stdin is a pipe that stays silent and open. */
  readonly hasOpenInput?: boolean;
  /** Called once, right after the start. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Called with all of stdout so far, each time that more comes. */
  readonly onOutput?: (output: string, child: ChildProcess) => void;
  /** A command that starts Sheaf, for instance in a namespace; Sheaf's own command line follows it. */
  readonly wrapper?: readonly string[];
  readonly stdout?: "pipe" | number;
}

export interface SheafResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Milliseconds. */
  readonly duration: number;
}

export interface ProgramResult extends SheafResult {
  readonly signal: NodeJS.Signals | null;
}

/** The program's own modules, as built: Vitest would compile them anew. */
const loadModule = createRequire(import.meta.url);

/** Runs a command line of the built program in this process. */
export function startCommandLine(
  words: readonly string[],
  options: SheafOptions & { readonly ports: Parameters<typeof Main.runCommandLine>[1]["ports"] },
): Promise<number> {
  const { runCommandLine } = loadModule("../../packages/cli/dist/cli/main.js") as typeof Main;
  const { cwd, ports } = options;
  return runCommandLine(words, { ports, environment: toEnvironment(options), findFolder: () => cwd });
}

function toEnvironment({ cwd, home, environment }: SheafOptions): Record<string, string | undefined> {
  return { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: home ?? join(cwd, "../home"), ...environment };
}

/** Runs Sheaf to its end in the process of the test. */
export async function runSheaf(words: readonly string[], options: SheafOptions): Promise<SheafResult> {
  const startedAt = performance.now();
  const { input, program = sheafProgram } = options;
  let [stdout, stderr] = ["", ""];
  const ports = createMemoryPorts({
    program,
    input: input === undefined ? undefined : Readable.from([Buffer.from(input)]),
    onOutput: (text) => void (stdout += text),
    onError: (text) => void (stderr += text),
  });
  const code = await startCommandLine(words, { ...options, ports });
  return { code, stdout, stderr, duration: performance.now() - startedAt };
}

/** A command line in the process of the test that a test talks to. */
export interface OpenSheaf {
  /** Stdin. */
  readonly input: PassThrough;
  /** Stdout. */
  readonly output: PassThrough;
  /** Everything on stderr so far. */
  readonly readError: () => string;
  readonly send: (signal: NodeJS.Signals) => void;
  /** The exit code. */
  readonly ended: Promise<number>;
}

/** Runs Sheaf in the process of the test, with streams that stay open. A test that ends, ends it by a signal. */
export function openSheaf(words: readonly string[], options: SheafOptions): OpenSheaf {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let stderr = "";
  const ports = createMemoryPorts({
    program: options.program ?? sheafProgram,
    input,
    onOutput: async (text) => {
      if (!output.write(text)) await once(output, "drain");
    },
    onError: (text) => void (stderr += text),
  });
  const ended = startCommandLine(words, { ...options, ports }).finally(() => output.end());
  const send = (signal: NodeJS.Signals): void => void ports.signals.emit(signal, signal);
  onTestFinished(async () => {
    send("SIGTERM");
    output.resume();
    await ended;
  });
  return { input, output, readError: () => stderr, send, ended };
}

/** Options that are about a process. */
const processOptions = ["hasOpenInput", "onStart", "onOutput", "wrapper", "stdout"] as const;

/** Runs Sheaf in the process of the test, unless an option is about its own process. Node itself reads TMPDIR. */
export function runAsNeeded(words: readonly string[], options: ProgramOptions): Promise<SheafResult> {
  return processOptions.some((name) => options[name] !== undefined) || options.environment?.TMPDIR !== undefined
    ? runProgram(words, options)
    : runSheaf(words, options);
}

/** Starts Sheaf as a user would, and waits for its end. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const startedAt = performance.now();
  const { cwd, input, hasOpenInput = false, wrapper = [], stdout: output = "pipe", program = sheafProgram } = options;
  const command = [...wrapper, process.execPath, program, ...args];
  const stdio: StdioOptions = [input === undefined && !hasOpenInput ? "ignore" : "pipe", output, "pipe"];
  const env = { ...compiledCode, ...toEnvironment(options) };
  const child = spawn(command[0]!, command.slice(1), { cwd, stdio, env });
  options.onStart?.(child);
  const stdoutChunks: Buffer[] = [];
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdoutChunks.push(chunk);
    if (options.onOutput) options.onOutput(Buffer.concat(stdoutChunks).toString(), child);
  });
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin?.on("error", () => undefined);
  if (input !== undefined) child.stdin?.end(input);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject);
    // With an open stdin "close" never comes by itself.
    child.on("exit", () => child.stdin?.destroy());
    child.on("close", (...end) => resolve(end));
  });
  const stdout = Buffer.concat(stdoutChunks).toString();
  return { code, signal, stdout, stderr, duration: performance.now() - startedAt };
}

/** Lines of stdout, each with its line end. */
export function toLines(stdout: string): string[] {
  return stdout.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

type Line = Record<string, unknown> & { readonly type: string; readonly subtype?: string };

/** The lines of a `stream-json` run, each valid by the published schema. */
export function parseStream(stdout: string): Line[] {
  return parseValidLines("stream-json", toLines(stdout)) as Line[];
}

/** Texts of the assistant lines. */
export function toTexts(lines: readonly Line[]): string[] {
  return lines
    .filter((line) => line.type === "assistant")
    .map((line) => (line.message as { content: [{ text: string }] }).content[0].text);
}

/** Kinds of lines, for instance `assistant` or `tool_call/started`. */
export function toKinds(lines: readonly Line[]): string[] {
  return lines.map(({ type, subtype }) => (subtype === undefined ? type : `${type}/${subtype}`));
}
