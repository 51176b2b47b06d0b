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

/** However often a tool shows progress, it ends. Milliseconds. */
const MAX_CALL_MS = 60 * 60 * 1000;

/** Time that a turn waits for a list that changed. Milliseconds. */
const RELIST_MS = 10_000;

/** Tools of one server; the rest of a longer list is left out (S-152). */
const MAX_TOOLS = 2000;

/** No tool has such a name, which rules use for resources and prompts (S-153). */
const reservedNames: ReadonlySet<string> = new Set(["resources/read", "prompts/get"]);

/** Of what a model would get of a tool. UTF-16 units. */
const MAX_DEFINITION = 100_000;

export interface ToolServer {
  readonly name: string;
  readonly settings: McpServerSettings;
  /** Tokens that were used, which must not be shown. */
  readonly secrets: readonly string[];
  /** What it offers now. A server that does not answer is started again. @throws if it is not ready in time. */
  listTools(signal: AbortSignal): Promise<readonly Tool[]>;
  /** The list, if it may have changed since it was read; else undefined. Starts nothing. @throws if it does not come in time. */
  listChangedTools(signal: AbortSignal): Promise<readonly Tool[] | undefined>;
  /** Of the server as it is connected; undefined: it is not. */
  readonly capabilities: ServerCapabilities | undefined;
  /** The way to use its tools, in the server's words; "": it says nothing, or is not connected. */
  readonly instructions: string;
  /** Any request, with the time of a call. @throws as `callTool` does. */
  ask<Value>(request: (client: Client, options: RequestOptions) => Promise<Value>, signal: AbortSignal): Promise<Value>;
  /** @throws if the server refuses, ends or says nothing in time. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: Pick<ToolContext, "signal" | "askPerson">,
  ): Promise<{ readonly result: CallToolResult } & Pick<OpenCall, "notes">>;
  /** For good. Never rejects. */
  close(): Promise<void>;
}

/** Starts nothing yet. */
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
        // Who cancels an answer keeps the server.
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

/** A server may quote the token that it got, and what it says goes into the log and to the model (S-170). */
function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
  if (secrets.length === 0) return value;
  const text = JSON.stringify(value);
  const hidden = secrets.reduce((all, secret) => all.replaceAll(JSON.stringify(secret).slice(1, -1), "[key]"), text);
  return hidden === text ? value : (JSON.parse(hidden) as Value);
}

type CallOptions = RequestOptions & { readonly signal: AbortSignal };

/** `seconds`: how long it may take. */
async function listFrom(opened: ServerConnection, request: StartRequest, seconds: number): Promise<readonly Tool[]> {
  const { client } = opened;
  // What changes from now on is not in the answer for sure.
  opened.takeChange();
  if (client.getServerCapabilities()?.tools === undefined) return [];
  // From the server, not from a cache: the answer shows that a kept one still lives.
  const answer = client.listTools(undefined, { ...request, cacheMode: "refresh" });
  const { tools } = await untilReady(answer, request, seconds);
  // A call of one that runs only as a task fails.
  const callable = tools.filter(({ execution }) => execution?.taskSupport !== "required");
  return callable.filter((tool) => !reservedNames.has(tool.name) && isShort(tool)).slice(0, MAX_TOOLS);
}

function isShort({ name, description = "", inputSchema }: Tool): boolean {
  return name.length + description.length + JSON.stringify(inputSchema).length <= MAX_DEFINITION;
}

/** Some calls work only after the person has opened pages: their error names them. One that is declined ends it. */
async function areOpened(error: unknown, desk: QuestionDesk, signal: AbortSignal): Promise<boolean> {
  // The protocol's library does not look at what an error has.
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
  /** Aborts after so long without a sign of the server. */
  readonly signal: AbortSignal;
  /** There was a sign. */
  readonly restart: () => void;
  /** A person may take as long as their question is open (true); it has closed (false). */
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
