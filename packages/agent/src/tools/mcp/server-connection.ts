/** The connection to one server: a program, or an address. */
import {
  Client,
  ProtocolError,
  ReadBuffer,
  SdkError,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  StreamableHTTPClientTransport,
  serializeMessage,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
  type RequestOptions,
  type Transport,
} from "@modelcontextprotocol/client";
import { DEFAULT_INHERITED_ENV_VARS } from "@modelcontextprotocol/client/stdio";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { isFolder } from "@sheaf/base/make-folder";
import { findHome, type Environment } from "@sheaf/base/paths";
import { toFixedPath, withoutInnerFolders } from "@sheaf/sandbox/environment";
import { createSandbox, type RunnerSettings } from "@sheaf/sandbox/create-sandbox";
import { isExpendable } from "@sheaf/sandbox/sandbox";
import {
  runServerProgram,
  startServerProgram,
  type ServerProgram,
  type ServerProgramOptions,
} from "@sheaf/sandbox/launch/server-program";
import { sheafVersion } from "@sheaf/base/version";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import {
  hasOwnAuthorization,
  isHeld,
  type HttpServerSettings,
  type McpServerSettings,
  type StdioServerSettings,
} from "../../config/mcp-settings.ts";
import type { ServerIdentity } from "../../config/server-logins.ts";
import type { QuestionDesk } from "./question-desk.ts";
import type { ServerAuthorization } from "./server-authorization.ts";

/** UTF-16 units of a program's stderr that Sheaf keeps. */
const MAX_WORDS = 4000;

/** Time that a server may take to connect, unless the caller sets it. Milliseconds. */
const START_MS = 30_000;

/** Time that a server may take to disconnect. Milliseconds. */
const LEAVE_MS = 300;

export interface ServerConnection {
  readonly client: Client;
  readonly hasEnded: boolean;
  /** The line of its stderr that most likely explains its end, or "". */
  readonly lastWords: string;
  /** Returns true if the tools may have changed since the last call of this method: true for a new connection. */
  takeChange(): boolean;
  /** Tokens that Sheaf used for this server, which no output may contain. */
  readonly secrets: readonly string[];
  /** Connects. @throws if Sheaf cannot reach the server, or it does not speak MCP. */
  connect(options: RequestOptions): Promise<void>;
  /** Ends the connection, and a program with all its processes. Never rejects. */
  close(): Promise<void>;
}

/** Folders that commands can write. Sheaf starts no server's program from them by itself (S-88). */
export interface ServerFolders {
  /** Absolute path of the root, without links. */
  readonly workspace: string;
  readonly addedFolders: readonly string[];
  /** The sandbox for servers with `"sandbox": true`, which fail without it. Equal `rules` hold a server equally. */
  readonly held?: { readonly commandOptions: RunnerSettings; readonly rules: unknown } | undefined;
}

export interface ServerPorts extends ServerFolders {
  /** The user's variables, of which programs get a few (S-40). */
  readonly environment: Environment;
  /** Connects to a server that the program at the other end of stdin and stdout has; undefined: not this one (C202). */
  readonly openTransport?: ((name: string) => Transport | undefined) | undefined;
  /** Opens a `fetch` through the user's proxy; undefined: no proxy. @throws SheafError CONFIG_INVALID. */
  readonly openFetch: () => Promise<typeof globalThis.fetch | undefined>;
  /** Opens the user's login to a server with an address (S-170); undefined: Sheaf uses no login. */
  readonly openAuthorization?: (server: ServerIdentity) => Promise<ServerAuthorization>;
}

/** Creates a connection that is not open yet. `name`: the server whose login it uses. */
export function createServerConnection(
  name: string,
  settings: McpServerSettings,
  ports: ServerPorts & { readonly desk: Pick<QuestionDesk, "answer"> },
): ServerConnection {
  let hasChanged = true;
  // Sheaf reads a list only when it needs it, however often the server reports a change (C112).
  const tools = { autoRefresh: false, debounceMs: 0, onChanged: () => void (hasChanged = true) };
  const client = new Client(
    { name: "sheaf", version: sheafVersion },
    {
      jsonSchemaValidator: withoutValidation,
      listChanged: { tools },
      capabilities: { elicitation: { form: {}, url: {} } },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => ports.desk.answer(params, mcpReq.signal));
  let hasEnded = false;
  let written = "";
  let transport: Transport | undefined;
  let authorization: ServerAuthorization | undefined;
  return {
    client,
    get secrets() {
      return authorization?.secrets ?? [];
    },
    get hasEnded() {
      return hasEnded;
    },
    get lastWords() {
      const lines = written.split("\n").filter((line) => line.trim() !== "");
      return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "";
    },
    takeChange() {
      const had = hasChanged;
      hasChanged = false;
      return had;
    },
    async connect(options) {
      const watch = {
        onErrorOutput: (bytes: Buffer) => void (written = (written + bytes.toString()).slice(-MAX_WORDS)),
        onEnd: () => void (hasEnded = true),
      };
      if ("url" in settings && !hasOwnAuthorization(settings)) {
        authorization = await ports.openAuthorization?.({ name, url: settings.url });
      }
      const open = async (mode: "auto" | "legacy"): Promise<void> => {
        hasEnded = false;
        transport =
          ports.openTransport?.(name) ??
          ("url" in settings
            ? await openHttp(settings, ports, authorization)
            : createProgramTransport(settings, ports, watch));
        client.setVersionNegotiation({ mode });
        // A server that does not answer the new request leaves time for the old one.
        const timeout = (options.timeout ?? START_MS) / (mode === "auto" ? 3 : 1);
        await client.connect(transport, { ...options, timeout });
      };
      // Some programs end at a request before `initialize`, and some never answer it, so only an address gets it first.
      const [first, second, Refusal] =
        "url" in settings ? (["auto", "legacy", SdkError] as const) : (["legacy", "auto", ProtocolError] as const);
      try {
        await open(first);
      } catch (error) {
        if (!(error instanceof Refusal) || options.signal?.aborted === true) throw error;
        await this.close();
        await open(second);
      }
    },
    async close() {
      await leave(client);
      await transport?.close();
    },
  };
}

/** Accepts every result: Sheaf uses only its text, and never matches the patterns of a server's schema (S-89). */
const withoutValidation: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined });
  },
};

async function openHttp(
  { url, headers = {} }: HttpServerSettings,
  { openFetch }: ServerPorts,
  authorization: ServerAuthorization | undefined,
): Promise<Transport> {
  // Headers may contain a key: a redirect to another host does not get them (S-42).
  const fetch = await openFetch();
  const settings = {
    requestInit: { headers: { ...headers } },
    redirectPolicy: "same-origin",
    ...(authorization && { authProvider: authorization }),
    fetch: limitMessages(fetch ?? globalThis.fetch),
    reconnectionScheduler: scheduleReconnection,
  } as const;
  return new StreamableHTTPClientTransport(new URL(url), settings);
}

/** The first pause before Sheaf opens a server's stream again; it doubles with each failed try. Milliseconds. */
const RECONNECT_MS = 1000;

/** Longest pause: a timer for a much longer time would end at once. Milliseconds. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Schedules the next try. The server may ask for a longer pause (`retry:`), but 0 would reconnect without end. */
function scheduleReconnection(reconnect: () => void, askedMs: number, failedTries: number): () => void {
  const waitMs = Math.max(askedMs, RECONNECT_MS * 2 ** failedTries);
  const timer = setTimeout(reconnect, Math.min(waitMs, LONGEST_WAIT_MS));
  return () => clearTimeout(timer);
}

/** Creates a transport of messages in lines. It skips other lines, since programs print anything. */
function createProgramTransport(
  settings: StdioServerSettings,
  ports: ServerPorts,
  { onErrorOutput, onEnd }: Pick<ServerProgramOptions, "onErrorOutput" | "onEnd">,
): Transport {
  const { command, args = [], env = {}, cwd = findOuterFolder(ports) } = settings;
  const buffer = new ReadBuffer();
  let starting: Promise<ServerProgram> | undefined;
  let ending: Promise<void> | undefined;
  const transport: Transport = {
    async start() {
      const program = {
        command,
        args,
        environment: { ...createOuterEnvironment(ports), ...env },
        cwd: cwd === "." ? ports.workspace : cwd,
        onOutput: read,
        onErrorOutput,
        onEnd: () => {
          onEnd();
          transport.onclose?.();
        },
      };
      starting = isHeld(settings) ? startHeld(program, ports) : startServerProgram(program);
      await starting;
    },
    async send(message) {
      await (await starting)?.write(serializeMessage(message));
    },
    close: () => (ending ??= end()),
  };
  const end = async (): Promise<void> => {
    const program = await starting?.catch(() => undefined);
    await program?.end();
  };
  const read = (bytes: Buffer): void => {
    try {
      buffer.append(bytes);
    } catch {
      // The line is too long.
      void transport.close();
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch {
        // The line is JSON, but not a message.
      }
    }
  };
  return transport;
}

/** Starts a server's program in the sandbox. @throws Error if no sandbox works. */
async function startHeld(program: ServerProgramOptions, { held }: ServerPorts): Promise<ServerProgram> {
  const sandbox = held?.commandOptions.sandbox ?? { state: "disabled" };
  if (held && isExpendable(sandbox)) return runServerProgram(program, createSandbox(held.commandOptions));
  const switched = `it is switched off: leave out --sandbox ${sandbox.state}`;
  const reason = sandbox.state === "unavailable" ? sandbox.reason : switched;
  throw new Error(`it may only run in the sandbox ("sandbox": true), and ${reason}`);
}

/** Finds a folder outside the workspace to start in: npx, uv and the like prefer settings and packages in theirs. */
function findOuterFolder({ workspace, addedFolders, environment }: ServerPorts): string {
  const isOuter = (folder: string): boolean =>
    isFolder(folder) && ![workspace, ...addedFolders].some((inner) => isBelow(toRealPlace(folder), inner));
  try {
    const home = findHome(environment);
    if (isOuter(home)) return home;
  } catch {
    // A user without a home folder may have servers.
  }
  return "/";
}

/** Returns the few variables of every program (S-40). No program in a writable folder hides one of the system. */
function createOuterEnvironment({ workspace, addedFolders, environment }: ServerPorts): Record<string, string> {
  const inherited = DEFAULT_INHERITED_ENV_VARS.flatMap((name) => {
    const value = environment[name];
    // A function of an old shell is code.
    return value === undefined || value.startsWith("()") ? [] : [[name, value]];
  });
  const { PATH } = [workspace, ...addedFolders].reduce(withoutInnerFolders, { PATH: environment.PATH });
  return { ...(Object.fromEntries(inherited) as Record<string, string>), PATH: toFixedPath(PATH) };
}

async function leave(client: Client): Promise<void> {
  const closed = client.close().catch(() => undefined);
  await waitAtMost(closed, LEAVE_MS);
}

/**
 * Limits messages of a server with an address to the length of a program's messages (S-221). The body fails where a
 * message gets longer: an answer, or an event of a stream, which itself may be endless.
 */
function limitMessages(fetch: typeof globalThis.fetch, maxBytes = STDIO_DEFAULT_MAX_BUFFER_SIZE): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const { body, headers, status, statusText } = response;
    if (!body) return response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    return new Response(body.pipeThrough(createLimit(isStream, maxBytes)), { headers, status, statusText });
  };
}

const [LF, CR] = [10, 13];

function createLimit(isStream: boolean, maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>> {
  let size = 0;
  let isLineEmpty = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        size += 1;
        // An empty line ends an event.
        if (byte === LF && isLineEmpty) size = 0;
        if (byte !== CR) isLineEmpty = byte === LF;
        if (size > maxBytes) break;
      }
      if (!isStream) size += chunk.length;
      if (size > maxBytes) throw new Error(`it sends a message of more than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}
