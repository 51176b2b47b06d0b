/** Starts the built server as a user would, on a free port of this machine, and talks to it. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { createStreamDecoder, type StreamEvent } from "@sheaf/protocol";
import { compiledCode, sheafProgram } from "./sheaf.ts";

/** How a server is started. */
export interface ServerOptions {
  /** Folder that holds the store and the token. */
  readonly home: string;
  /** Served workspace, and where the server is started. */
  readonly cwd: string;
  /** A scripted model as an object; default: it says hello for ever. */
  readonly script?: unknown;
  /** Flags besides port and model. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What registers the end of the server; a concurrent test gives that of its own context. */
  readonly onEnd?: (end: () => void) => void;
}

/** A server under test. It is ended with the test at the latest. */
export interface TestServer {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** The same, with the ticket of `--open`. */
  readonly pageAddress: string;
  readonly port: number;
  /** Of the local owner; "" when the server was given a token file. */
  readonly token: string;
  /** The scripted model, as clients name it (S-136). */
  readonly model: string;
  readonly child: ChildProcess;
  readonly home: string;
  readonly cwd: string;
  /** Everything on stderr so far. */
  readonly log: () => string;
  /** A request with the token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** `POST /v1/chat`. */
  chat(body: Readonly<Record<string, unknown>>, init?: RequestInit): Promise<Response>;
  /** Sends a signal and waits for the end; gives the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const helloScript = { turns: [{ events: [{ text: "Hello world." }] }], after: "loop" };

/** Resolves when the server has told its address. */
export async function startServer(options: ServerOptions): Promise<TestServer> {
  const { home, cwd, script = helloScript, args = [], environment = {}, onEnd = onTestFinished } = options;
  const scriptFile = `${home}-script.json`;
  writeFileSync(scriptFile, JSON.stringify(script));
  const words = ["serve", "--port", "0", "--model", `scripted:${scriptFile}`, ...args];
  const child = spawn(process.execPath, [sheafProgram, ...words], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: home, ...compiledCode, ...environment },
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  onEnd(() => void child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const pageAddress = await readAddress(child, () => log);
  const { origin: address } = new URL(pageAddress);
  const token = args.includes("--token-file") ? "" : readFileSync(join(home, "server-token"), "utf8").trim();
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${address}${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, ...toHeaders(init) } });
  return {
    address,
    pageAddress,
    port: Number(new URL(address).port),
    token,
    model: `scripted:${basename(scriptFile)}`,
    child,
    home,
    cwd,
    log: () => log,
    fetch: request,
    chat: (body, init = {}) =>
      request("/v1/chat", {
        method: "POST",
        body: JSON.stringify(body),
        ...init,
        headers: { "Content-Type": "application/json", ...toHeaders(init) },
      }),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

function toHeaders({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers).entries());
}

function readAddress(child: ChildProcess, log: () => string): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    child.stdout!.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const [, address] = /^Sheaf listens on (http:\/\/\S+) \(token: .+\)\n/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${output}${log()}`)));
  });
}

/** All events of a stream, until its end or until `until` says so. */
export async function readEvents(
  response: Response,
  until: (event: StreamEvent) => boolean = () => false,
): Promise<StreamEvent[]> {
  const decoder = createStreamDecoder();
  const text = new TextDecoder();
  const events: StreamEvent[] = [];
  for await (const chunk of response.body!) {
    for (const event of decoder.push(text.decode(chunk, { stream: true }))) {
      events.push(event);
      if (until(event)) return events;
    }
  }
  return [...events, ...decoder.end()];
}
