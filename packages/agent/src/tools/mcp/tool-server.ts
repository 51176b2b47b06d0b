/** One tool server: connected when it is needed, and again when its program has ended. */
import {
  UrlElicitationRequiredError,
  type CallToolResult,
  type Client,
  type ElicitRequestURLParams,
  type RequestOptions,
  type ServerCapabilities,
  type Tool,
} from "@modelcontextprotocol/client";
import { isJsonObject } from "@sheaf/protocol/check-value";
import type { ToolContext } from "../tool.ts";
import type { McpServerSettings } from "../../config/mcp-settings.ts";
import { createQuestionDesk, type OpenCall, type QuestionDesk } from "./question-desk.ts";
import { createKeptConnection, untilReady, type StartRequest } from "./kept-connection.ts";
import { createServerConnection, type ServerConnection, type ServerPorts } from "./server-connection.ts";

/** Default of `startTimeoutSeconds`: `npx` may have to download the program. */
const START_SECONDS = 30;

/** Default of `timeoutSeconds`. */
const CALL_SECONDS = 60;

/** Longest call, however often its tool reports progress. Milliseconds. */
const MAX_CALL_MS = 60 * 60 * 1000;

/** Time that a turn waits for a list that changed. Milliseconds. */
const RELIST_MS = 10_000;

/** Most tools of one server; Sheaf ignores the rest of a longer list (S-152). */
const MAX_TOOLS = 2000;

/** Names that rules use for resources and prompts, so no tool may have them (S-153). */
const reservedNames: ReadonlySet<string> = new Set(["resources/read", "prompts/get"]);

/** Longest definition of a tool that a model gets. UTF-16 units. */
const MAX_DEFINITION = 100_000;

export interface ToolServer {
  readonly name: string;
  readonly settings: McpServerSettings;
  /** Tokens that Sheaf used for this server, which no output may contain. */
  readonly secrets: readonly string[];
  /** Lists the current tools. Restarts a server that does not answer. @throws if it is not ready in time. */
  listTools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** Lists the tools if they may have changed since the last list. Starts no server. @throws if it takes too long. */
  listChangedTools(signal: AbortSignal): Promise<readonly Tool[] | undefined>;
  /** Capabilities of the connected server; undefined: it is not connected. */
  readonly capabilities: ServerCapabilities | undefined;
  /** The server's instructions for its tools; "": it sent no instructions, or is not connected. */
  readonly instructions: string;
  /** Sends any request, with the time limit of a call. @throws as `callTool` does. */
  ask<Value>(request: (client: Client, options: RequestOptions) => Promise<Value>, signal: AbortSignal): Promise<Value>;
  /** Calls a tool. @throws if the server refuses, ends or is silent for too long. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: Pick<ToolContext, "signal" | "askPerson">,
  ): Promise<{ readonly result: CallToolResult } & Pick<OpenCall, "notes">>;
  /** Disconnects for good. Never rejects. */
  close(): Promise<void>;
}

/** Creates the server without starting it. */
export function createToolServer(name: string, settings: McpServerSettings, ports: ServerPorts): ToolServer {
  const { startTimeoutSeconds = START_SECONDS, timeoutSeconds = CALL_SECONDS } = settings;
  const desk = createQuestionDesk(name);
  const kept = createKeptConnection(
    () => createServerConnection(name, settings, { ...ports, desk }),
    startTimeoutSeconds,
  );

  const toStartRequest = (signal: AbortSignal): StartRequest => {
    const timeout = startTimeoutSeconds * 1000;
    return { signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]), timeout };
  };

  const list = async (signal: AbortSignal): Promise<readonly Tool[]> => {
    const request = toStartRequest(signal);
    return listFrom(await kept.connect(request), request, startTimeoutSeconds);
  };

  const ask = async <Value>(
    request: (client: Client, options: CallOptions, limit: SilenceLimit) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> => {
    const { client } = await kept.connect(toStartRequest(signal));
    const limit = createSilenceLimit(timeoutSeconds);
    const options = {
      signal: AbortSignal.any([signal, limit.signal]),
      timeout: MAX_CALL_MS,
      onprogress: limit.restart,
    };
    try {
      return withoutSecrets(await request(client, options, limit), kept.secrets);
    } catch (error) {
      throw limit.signal.aborted && !signal.aborted ? limit.signal.reason : error;
    } finally {
      limit.end();
    }
  };

  return {
    name,
    settings,
    get secrets() {
      return kept.secrets;
    },
    async listTools(signal) {
      const wasConnected = kept.current !== undefined;
      try {
        return await list(signal);
      } catch (error) {
        // If the user cancels an answer, the server stays connected.
        if (wasConnected && signal.aborted) throw error;
        await kept.disconnect();
        if (!wasConnected) throw error;
        return list(signal);
      }
    },
    async listChangedTools(signal) {
      const { current } = kept;
      if (!current?.takeChange()) return undefined;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(RELIST_MS)]);
      return listFrom(current, { signal: limit, timeout: RELIST_MS }, RELIST_MS / 1000);
    },
    get capabilities() {
      return kept.current?.client.getServerCapabilities();
    },
    get instructions() {
      const { instructions } = withoutSecrets({ instructions: kept.current?.client.getInstructions() }, kept.secrets);
      return typeof instructions === "string" ? instructions.trim() : "";
    },
    ask,
    callTool: (tool, args, { signal, askPerson }) =>
      ask(async (client, options, limit) => {
        const entry = desk.open(askPerson, limit.pause);
        try {
          const call = (): Promise<CallToolResult> => client.callTool({ name: tool, arguments: { ...args } }, options);
          const result = await call().catch(async (error: unknown) => {
            if (!(await areOpened(error, desk, options.signal))) throw error;
            return call();
          });
          return { result, notes: entry.notes };
        } finally {
          entry.close();
        }
      }, signal),
    close: () => kept.close(),
  };
}

/** Hides secrets: a server may quote the token that it got, and its text reaches the log and the model (S-170). */
function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
  if (secrets.length === 0) return value;
  const text = JSON.stringify(value);
  const hidden = secrets.reduce((all, secret) => all.replaceAll(JSON.stringify(secret).slice(1, -1), "[key]"), text);
  return hidden === text ? value : (JSON.parse(hidden) as Value);
}

type CallOptions = RequestOptions & { readonly signal: AbortSignal };

/** Lists the tools of a connected server. `seconds`: the time that it may take. */
async function listFrom(opened: ServerConnection, request: StartRequest, seconds: number): Promise<readonly Tool[]> {
  const { client } = opened;
  // The answer may lack changes from now on.
  opened.takeChange();
  if (client.getServerCapabilities()?.tools === undefined) return [];
  // The answer shows that a kept connection still lives, so a cache must not give it.
  const answer = client.listTools(undefined, { ...request, cacheMode: "refresh" });
  const { tools } = await untilReady(answer, request, seconds);
  // A plain call fails for a tool that runs only as a task.
  const callable = tools.filter(({ execution }) => execution?.taskSupport !== "required");
  return callable.filter((tool) => !reservedNames.has(tool.name) && isShort(tool)).slice(0, MAX_TOOLS);
}

function isShort({ name, description = "", inputSchema }: Tool): boolean {
  return name.length + description.length + JSON.stringify(inputSchema).length <= MAX_DEFINITION;
}

/** Returns true once the person has opened all pages that a call's error requires; they may decline one. */
async function areOpened(error: unknown, desk: QuestionDesk, signal: AbortSignal): Promise<boolean> {
  // The protocol's library does not check the data of an error.
  const pages: readonly unknown[] = error instanceof UrlElicitationRequiredError ? [error.elicitations].flat() : [];
  for (const page of pages) {
    const { message, url, elicitationId = "" } = isJsonObject(page) ? page : {};
    if (![message, url, elicitationId].every((text) => typeof text === "string")) return false;
    const asked = { mode: "url", message, url, elicitationId } as ElicitRequestURLParams;
    const { action } = await desk.answer(asked, signal);
    if (action !== "accept") return false;
  }
  return pages.length > 0;
}

interface SilenceLimit {
  /** Aborts if the server shows no sign of progress for too long. */
  readonly signal: AbortSignal;
  /** Restarts the time after a sign of progress. */
  readonly restart: () => void;
  /** Stops the time while a question to a person is open (true); restarts it when the question has closed (false). */
  readonly pause: (isWaiting: boolean) => void;
  readonly end: () => void;
}

function createSilenceLimit(seconds: number): SilenceLimit {
  const silent = new AbortController();
  const fail = (): void => silent.abort(new Error(`it timed out: no sign of progress for ${seconds} s`));
  let timer: NodeJS.Timeout | undefined;
  let open = 0;
  const restart = (): void => {
    clearTimeout(timer);
    if (open === 0) timer = setTimeout(fail, seconds * 1000);
  };
  restart();
  return {
    signal: silent.signal,
    restart,
    pause(isWaiting) {
      open += isWaiting ? 1 : -1;
      restart();
    },
    end: () => clearTimeout(timer),
  };
}
