/** The server in the test's own process: its routes by `app.request()`, a scripted model, a store in memory. */
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, join } from "node:path";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { onTestFinished } from "vitest";
import { parseArguments } from "../../packages/cli/src/arguments.ts";
import { createServeOptions } from "../../packages/cli/src/commands/serve.ts";
import type { listen } from "../../packages/server/src/listen.ts";
import { serve, type RunningServer } from "../../packages/server/src/serve.ts";
import { createApi, toHeaders, type Api } from "./api.ts";
import { createMemoryPorts } from "./memory-ports.ts";
import { createAnswer } from "./server-answer.ts";
import { createWorkspace, type Files } from "./sheaf.ts";
import { sheafDialect } from "../../packages/cli/src/dialects/sheaf/sheaf.ts";

interface AppOptions {
  /** Folder of the token; a store in it only if `store` says so. Default: beside the workspace. */
  readonly home?: string;
  /** Served workspace. Default: a new folder, which ends with the test. */
  readonly cwd?: string;
  /** Files of the new folder; default: a README. */
  readonly files?: Files;
  /** A scripted model as an object; default: it says hello for ever. */
  readonly script?: unknown;
  /** Flags of `sheaf serve` besides port and model. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: one in memory, which ends with the test. */
  readonly store?: SharedStore;
}

/** A server without sockets. It is closed with the test at the latest. */
export interface TestApp extends Api {
  /** The address that its requests name. */
  readonly address: string;
  /** Of the local owner; "" when the server was given a token file. */
  readonly token: string;
  /** The scripted model, as clients name it (S-136). */
  readonly model: string;
  readonly home: string;
  readonly cwd: string;
  readonly server: RunningServer;
  readonly store: SharedStore;
  /** Everything that was logged so far, as lines of JSON. */
  readonly log: () => string;
  /** A request as it is; `path` may be a whole address. */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  /** The same for the owner of another token. */
  readonly as: (token: string) => Api;
  /** Ends what runs, and the server. */
  readonly stop: () => Promise<void>;
}

type App = Parameters<typeof listen>[0];

const helloScript = { turns: [{ events: [{ text: "Hello world." }] }], after: "loop" };
const port = 7433;

/** Opens what `sheaf serve` with these flags opens, but no socket. @throws SheafError USAGE, CONFIG_INVALID. */
export async function openApp(options: AppOptions = {}): Promise<TestApp> {
  const {
    cwd = createWorkspace(onTestFinished, options.files),
    home = `${cwd}-home`,
    script = helloScript,
    args = [],
    environment = {},
    store = createSqliteStore(":memory:"),
  } = options;
  const scriptFile = `${home}-script.json`;
  writeFileSync(scriptFile, JSON.stringify(script));
  const parsed = parseArguments(["serve", "--model", `scripted:${scriptFile}`, ...args]);
  const io = {
    cwd,
    environment: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: home, ...environment },
    dialect: sheafDialect,
    ...createMemoryPorts(),
  } as const;
  let log = "";
  const plan = createServeOptions(parsed, io, (entry) => void (log += `${JSON.stringify(entry)}\n`));
  let app: App | undefined;
  const server = await serve({ ...plan, store }, async (opened) => {
    app = opened;
    return { port, close: async () => undefined };
  });
  let closed: Promise<void> | undefined;
  const stop = (): Promise<void> => (closed ??= server.close(0));
  onTestFinished(async () => {
    await stop();
    if (options.store === undefined) await store.close();
  });
  const address = `http://127.0.0.1:${port}`;
  const token = args.includes("--token-file") ? "" : readFileSync(join(home, "server-token"), "utf8").trim();
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    sendRequest(app!, new URL(path, address), init);
  const as = (owner: string): Api => createApi(request, owner);
  return {
    ...as(token),
    address,
    token,
    model: `scripted:${basename(scriptFile)}`,
    home,
    cwd,
    server,
    store,
    log: () => log,
    request,
    as,
    stop,
  };
}

/** One request as a client of HTTP/1.1 would send it; `init.signal` is a client that goes away. */
async function sendRequest(app: App, url: URL, init: RequestInit): Promise<Response> {
  const { signal, ...rest } = init;
  const headers = { host: url.host, ...toHeaders(init) };
  const incoming = {
    url: `${url.pathname}${url.search}`,
    httpVersion: "1.1",
    rawHeaders: Object.entries(headers).flat(),
  };
  const answer = createAnswer();
  signal?.addEventListener("abort", () => answer.outgoing.destroy());
  const returned = Promise.resolve(
    app.request(
      url.href,
      { ...rest, headers },
      {
        incoming: incoming as unknown as IncomingMessage,
        outgoing: answer.outgoing as unknown as ServerResponse,
      },
    ),
  );
  // A stream writes its head and body by itself, and returns when it is over.
  const whole = returned.then((response) =>
    response.headers.has("x-hono-already-sent") ? answer.started : answer.close(response),
  );
  return Promise.race([answer.started, whole]);
}
