/** Reads and writes the lines of Claude Code's SDK, and answers its requests (C202, C203). */
import { randomUUID } from "node:crypto";
import type { Notice } from "@sheaf/protocol";
import { formatProblem, isJsonObject, listProblems } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { isHookEvent, parseMatcher } from "@sheaf/agent/config/hook-settings";
import type { Hook } from "@sheaf/agent/config/read-hooks";
import { describeTool } from "@sheaf/agent/tools/registry";
import { findPlace, fromToolInput, toToolInput } from "@sheaf/agent/tools/hooks/hook-input";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { createWorkspace } from "@sheaf/base/files/workspace";
import type { FlagValues } from "../../flags.ts";
import type { Command, Speech } from "../dialect.ts";
import { ignoreUnknown } from "../ignore-unknown.ts";
import { createLineError } from "../input-lines.ts";
import { createResponseLine, responseFields } from "../program-requests.ts";
import type { Talk } from "../two-way.ts";
import { toLineMessage, userLine } from "../user-line.ts";
import type { ClaudeState } from "./arguments.ts";
import { bypassNotice, toDenials, toMode, toSettings } from "./rules.ts";

type Fields = Readonly<Record<string, unknown>>;
type Transport = NonNullable<ReturnType<NonNullable<Speech["openTransport"]>>>;

const responseLine = createResponseLine(s.open(s.object(responseFields)));

const requestLine = s.object({
  type: s.literal("control_request"),
  request_id: s.string(),
  request: s.open(s.object({ subtype: s.string() })),
});

/** Matches fields of `initialize` without an effect here: they concern a screen, or a server that Sheaf asks itself. */
const idleFields =
  /^(subtype|sdkMcpServer(Configs|Manifests)|title|skills|promptSuggestions|agentProgressSummaries|forward.*|supportedDialogKinds|perTaskStopAffordance|rapidFollowupPreempt|offersBypassSwitchBack|keepsBypassHeld|excludeDynamicSections|systemPromptSnapshot|webSearchIsolationExemptMcpServers)$/;

/** Matches events that only watch, or that never happen in Sheaf: a run without them is the same. */
const watching = /^(Post|Subagent|Stop|Task|Teammate|Instructions|Cwd|File|Worktree|Setup)/;

/** Default time of a hook, in milliseconds. */
const HOOK_MS = 60_000;

export function openClaudeSpeech(talk: Talk, given: ClaudeState, first: readonly Notice[]): Speech {
  return new ClaudeSpeech(talk, given, first);
}

class ClaudeSpeech implements Speech {
  readonly #talk: Talk;
  readonly #transports = new Map<string, Transport>();
  readonly #workspace;
  readonly asks: boolean;
  #state: ClaudeState;
  #flags: FlagValues;
  #notices: readonly Notice[];
  #hooks: readonly Hook[] = [];
  /** The reason to refuse every run: a guard of the program would be off. */
  #fault: SheafError | undefined;

  constructor(talk: Talk, state: ClaudeState, notices: readonly Notice[]) {
    this.#talk = talk;
    this.#state = state;
    this.#flags = talk.flags;
    this.#notices = notices;
    this.asks = state.asks;
    this.#workspace = createWorkspace(talk.config.workspace);
  }

  order() {
    if (this.#fault) throw this.#fault;
    const settings = toSettings(this.#state);
    const hooks = this.#hooks.length > 0 && { programHooks: this.#hooks };
    return {
      flags: { ...this.#flags, mode: toMode(this.#state) },
      settings: { ...settings, ...hooks },
      notices: this.#notices,
    };
  }

  openTransport = (name: string): Transport | undefined => this.#transports.get(name);

  toQuestion: Speech["toQuestion"] = ({ callId, title, description }, { toolName, input }) => ({
    subtype: "can_use_tool",
    tool_name: describeTool(toolName)?.claude?.name ?? toolName,
    input: toToolInput({ toolName, arguments: input }, (path) => findPlace(path, this.#workspace)),
    tool_use_id: callId,
    permission_suggestions: [],
    title,
    description,
  });

  toArguments: Speech["toArguments"] = ({ toolName }, input) => fromToolInput(toolName, input) ?? input;

  readLine(value: unknown, number: number): Command {
    const type = isJsonObject(value) ? value["type"] : undefined;
    const schema =
      type === "user"
        ? userLine
        : type === "control_request"
          ? requestLine
          : type === "control_response"
            ? responseLine
            : undefined;
    // Signs of life need no answer, and withdrawn requests have had theirs.
    if (!schema) return { kind: "now", run: () => undefined };
    const [problem] = listProblems(schema, value);
    if (problem) throw createLineError(number, `is not valid at ${formatProblem(problem)}`);
    if (type === "control_response")
      return { kind: "response", response: (value as s.ValueOf<typeof responseLine>).response };
    if (type === "user") {
      const message = toLineMessage(value as s.ValueOf<typeof userLine>, number);
      return { kind: "message", open: () => message };
    }
    const { request_id: id, request } = value as s.ValueOf<typeof requestLine>;
    return {
      kind: "now",
      run: () => {
        try {
          this.#talk.respond(id, this.#answer(request));
        } catch (error) {
          const { message } = toSheafError(error);
          if (request.subtype === "initialize") {
            this.#fault = new SheafError("USAGE", `the program asks for a guard that Sheaf cannot serve: ${message}`);
          }
          this.#talk.respond(id, message);
        }
      },
    };
  }

  /** Answers a request. @throws SheafError USAGE if Sheaf can't do it. */
  #answer(request: Fields & { readonly subtype: string }): Fields {
    switch (request.subtype) {
      case "initialize":
        return this.#initialize(request);
      case "interrupt":
        this.#talk.interrupt();
        return { still_queued: [] };
      case "set_model": {
        const { model: _, ...others } = this.#flags;
        this.#flags = typeof request["model"] === "string" ? { ...others, model: request["model"] } : others;
        return {};
      }
      case "set_permission_mode": {
        const state = { ...this.#state, permissionMode: String(request["mode"]) };
        const { force } = toSettings(state);
        if (this.#talk.isRunning() && !force && state.permissionMode !== "acceptEdits") {
          throw new SheafError("USAGE", "the mode of a running answer cannot change: interrupt it first");
        }
        if (force) this.#notices = [...this.#notices, bypassNotice];
        this.#state = state;
        return { mode: state.permissionMode };
      }
      case "mcp_message":
        this.#transports.get(String(request["server_name"]))?.onmessage?.(request["message"] as never);
        return {};
      case "mcp_status":
        return { mcpServers: [...this.#transports.keys()].map((name) => ({ name, status: "connected" })) };
      default:
        throw new SheafError(
          "USAGE",
          `Sheaf does not have the request ${JSON.stringify(request.subtype.slice(0, 100))}`,
        );
    }
  }

  #initialize({
    hooks,
    sdkMcpServers,
    jsonSchema,
    systemPrompt,
    appendSystemPrompt,
    disallowedTools,
    ...fields
  }: Fields): Fields {
    const texts = [systemPrompt].flat().filter((text) => typeof text === "string" && text.trim() !== "");
    const denied = toDenials(Array.isArray(disallowedTools) ? disallowedTools.map(String) : []);
    const { deny = [], "exclude-tools": excluded = "" } = this.#flags;
    this.#flags = {
      ...this.#flags,
      ...(jsonSchema !== undefined && { "output-schema": JSON.stringify(jsonSchema) }),
      ...(texts.length > 0 && { "system-prompt": texts.join("\n\n") }),
      ...(typeof appendSystemPrompt === "string" && { "append-system-prompt": appendSystemPrompt }),
      ...(denied.rules.length > 0 && { deny: [...deny, ...denied.rules] }),
      "exclude-tools": [excluded, ...denied.tools].join(","),
    };
    this.#hooks = Object.entries(isJsonObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
      this.#toHooks(event, groups),
    );
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === null || value === false || idleFields.test(name)) continue;
      if (Array.isArray(value) && value.length === 0) continue;
      this.#notices = [...this.#notices, ignoreUnknown(`the field ${name} of initialize`)];
    }
    const names = Array.isArray(sdkMcpServers) ? sdkMcpServers.map(String) : [];
    for (const name of names) this.#transports.set(name, this.#createTransport(name));
    // Sheaf starts no program for these names, because `openTransport` handles them.
    const servers = Object.fromEntries(names.map((name) => [name, { command: "sdk" }]));
    this.#state = { ...this.#state, mcpServers: { ...this.#state.mcpServers, ...servers } };
    const { model = "none" } = this.#talk.config;
    const style = { output_style: "default", available_output_styles: ["default"] };
    const models = [{ value: "default", displayName: model, description: "the model of Sheaf's settings" }];
    return { commands: [], agents: [], ...style, models, account: {} };
  }

  #toHooks(event: string, groups: unknown): Hook[] {
    const list = (Array.isArray(groups) ? groups : []).filter(isJsonObject);
    if (list.length === 0) return [];
    if (!isHookEvent(event) || event === "Verify") {
      if (!watching.test(event)) throw new SheafError("USAGE", `Sheaf has no hooks at ${JSON.stringify(event)}`);
      this.#notices = [
        ...this.#notices,
        { code: "HOOK_NOT_RUN", message: `hooks at ${event} do not run: Sheaf has no such event` },
      ];
      return [];
    }
    return list.flatMap(({ matcher, hookCallbackIds, timeout }) => {
      const words = typeof matcher === "string" ? matcher : "";
      const accepts = parseMatcher(words);
      if (!accepts) throw new SheafError("USAGE", `the matcher ${JSON.stringify(words)} is not a regular expression`);
      const ids = Array.isArray(hookCallbackIds) ? hookCallbackIds.map(String) : [];
      return ids.map((id): Hook => ({
        event,
        origin: "user",
        command: `callback ${id}`,
        matcher: words,
        matches: (names) => names.length === 0 || names.some(accepts),
        timeoutMs: typeof timeout === "number" ? timeout * 1000 : HOOK_MS,
        isSandboxed: true,
        ask: async (input, signal) => {
          const callback = { subtype: "hook_callback", callback_id: id, input: { transcript_path: "", ...input } };
          const request = { ...callback, tool_use_id: input["tool_use_id"] };
          const answer = await this.#talk.requests.ask(randomUUID(), request, signal);
          return answer?.subtype === "success" ? (answer.response ?? {}) : undefined;
        },
      }));
    });
  }

  #createTransport(name: string): Transport {
    const closing = new AbortController();
    const transport: Transport = {
      start: async () => undefined,
      close: async () => {
        closing.abort();
        transport.onclose?.();
      },
      send: async (message) => {
        const request = { subtype: "mcp_message", server_name: name, message };
        void answer(message, this.#talk.requests.ask(randomUUID(), request, closing.signal));
      },
    };
    const answer = async (message: Fields, asked: ReturnType<Talk["requests"]["ask"]>): Promise<void> => {
      const response = await asked;
      const { id, method } = message;
      // A notification needs no answer.
      if (id === undefined || method === undefined) return;
      const fault = { jsonrpc: "2.0", id, error: { code: -32_000, message: response?.error ?? "no answer came" } };
      transport.onmessage?.((response?.response?.["mcp_response"] ?? fault) as never);
    };
    return transport;
  }
}
