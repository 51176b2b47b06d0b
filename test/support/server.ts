/** Starts the built server on a free port of this machine, in the process of the test or in its own, and talks to it. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { createStreamDecoder, type StreamEvent } from "@sheaf/protocol";
import { createApi, type Api } from "./api.ts";
import { createMemoryPorts } from "./memory-ports.ts";
import { compiledCode, createWorkspace, sheafProgram, startCommandLine } from "./sheaf.ts";

/** How a server is started. */
export interface ServerOptions {
  /** Folder that holds the store and the token. Default: beside the workspace. */
  readonly home?: string;
  /** Served workspace, and where the server is started. Default: a new folder, which ends with the test. */
  readonly cwd?: string;
  /** A scripted model as an object; default: it says hello for ever. */
  readonly script?: unknown;
  /** Flags besides port and model. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The program of `startServerProcess`, by its path; default: the one that was built. */
  readonly program?: string;
  /** What registers the end of the server; a concurrent test gives that of its own context. */
  readonly onEnd?: (end: () => void | Promise<void>) => void;
}

/** A server under test. It is ended with the test at the latest. */
export interface TestServer extends Api {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** The same, with the ticket of `--open`. */
  readonly pageAddress: string;
  readonly port: number;
  /** Of the local owner; "" when the server was given a token file. */
  readonly token: string;
  /** The scripted model, as clients name it (S-136). */
  readonly model: string;
  readonly home: string;
  readonly cwd: string;
  /** Everything on stderr so far. */
  readonly log: () => string;
  /** The same for the owner of another token; `defaults` are fields of every message. */
  as(token: string, defaults?: Readonly<Record<string, unknown>>): Api;
  /** Sends SIGTERM and waits for the end; gives the exit code. */
  stop(): Promise<number | null>;
}

/** A server in its own process. */
export interface ServerProcess extends TestServer {
  readonly child: ChildProcess;
  /** Sends a signal and waits for the end; gives the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const helloScript = { turns: [{ events: [{ text: "Hello world." }] }], after: "loop" };

/** Starts a server in the process of the test. Resolves when it has told its address. */
export async function startServer(given: ServerOptions = {}): Promise<TestServer> {
  const options = toPlace(given);
  const { args = [], onEnd = onTestFinished } = options;
  const talk = createTalk();
  const ports = createMemoryPorts({ program: sheafProgram, onOutput: talk.onOutput, onError: talk.onError });
  // A test that ends waits for no run.
  const grace = args.includes("--grace") ? [] : ["--grace", "0"];
  const ended = startCommandLine([...toWords(options), ...grace], { ...options, ports });
  void ended.then(talk.onEnd);
  const stop = (): Promise<number> => {
    ports.signals.emit("SIGTERM", "SIGTERM");
    return ended;
  };
  onEnd(async () => void (await stop()));
  return { ...toServer(await talk.address, options, talk.log), stop };
}

/** Starts a server as a user would, in its own process. Resolves when it has told its address. */
export async function startServerProcess(given: ServerOptions = {}): Promise<ServerProcess> {
  const options = toPlace(given);
  const { home, cwd, environment = {}, program = sheafProgram, onEnd = onTestFinished } = options;
  const talk = createTalk();
  const child = spawn(process.execPath, [program, ...toWords(options)], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: home, ...compiledCode, ...environment },
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  onEnd(() => void child.kill("SIGKILL"));
  child.stdout.setEncoding("utf8").on("data", talk.onOutput);
  child.stderr.setEncoding("utf8").on("data", talk.onError);
  child.on("exit", talk.onEnd);
  return {
    ...toServer(await talk.address, options, talk.log),
    child,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

type PlacedOptions = ServerOptions & Required<Pick<ServerOptions, "cwd" | "home">>;

function toPlace(options: ServerOptions): PlacedOptions {
  const cwd = options.cwd ?? createWorkspace(options.onEnd ?? onTestFinished);
  return { home: `${cwd}-home`, ...options, cwd };
}

/** Writes the script, and gives the command line. */
function toWords({ home, script = helloScript, args = [] }: PlacedOptions): string[] {
  const scriptFile = `${home}-script.json`;
  writeFileSync(scriptFile, JSON.stringify(script));
  return ["serve", "--port", "0", "--model", `scripted:${scriptFile}`, ...args];
}

/** What a server says; `address` rejects if it ends before that. */
function createTalk() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let [output, log] = ["", ""];
  return {
    address: promise,
    log: () => log,
    onOutput: (text: string) => {
      output += text;
      const [, address] = /^Sheaf listens on (http:\/\/\S+) \(token: .+\)\n/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    },
    onError: (text: string) => void (log += text),
    onEnd: (code: number | null) => reject(new Error(`the server ended with ${code}: ${output}${log}`)),
  };
}

function toServer(pageAddress: string, { home, cwd, args = [] }: PlacedOptions, log: () => string) {
  const { origin: address, port } = new URL(pageAddress);
  const token = args.includes("--token-file") ? "" : readFileSync(join(home, "server-token"), "utf8").trim();
  const as: TestServer["as"] = (owner, defaults) =>
    createApi((path, init) => fetch(`${address}${path}`, init), owner, defaults);
  return {
    ...as(token),
    address,
    pageAddress,
    port: Number(port),
    token,
    model: `scripted:${basename(home)}-script.json`,
    home,
    cwd,
    log,
    as,
  };
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
