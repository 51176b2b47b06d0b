/** A model and tools made of functions, for tests of the turn loop alone. */
import type { ModelEvent, RunEvent, RunStart } from "@sheaf/protocol";
import { respond } from "../../src/run/conversations/respond.ts";
import { SheafError } from "@sheaf/base/errors";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import type { AddedMessages } from "../../src/run/added-messages.ts";
import type { AnswerCheck } from "../../src/run/final-answer.ts";
import type { Quote } from "../../src/run/model-turn.ts";
import type { RunSettings } from "../../src/run/run.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { Store } from "@sheaf/store/store";
import type { Approval, ApprovalQuestion, Approver } from "../../src/tools/approval.ts";
import type { ToolAccess } from "@sheaf/permissions/decision";
import type { Hooks } from "../../src/tools/hooks/hooks.ts";
import type { AskPerson, ToolBox, ToolOutcome } from "../../src/tools/tool.ts";

export const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 };

export const start: Omit<RunStart, "type"> = {
  responseId: "chat_1",
  conversationId: "conv_1",
  mode: "agent",
  model: "m",
  modelName: "M",
  apiKeySource: "none",
  workspace: "/w",
  permissionMode: "default",
  sandbox: "disabled",
  trusted: false,
  sheafVersion: "0",
  prompt: "go",
};

export const text = (value: string): ModelEvent => ({ type: "text_delta", text: value });

export const end = (finishReason: Extract<ModelEvent, { type: "turn_end" }>["finishReason"] = "stop"): ModelEvent => ({
  type: "turn_end",
  finishReason,
  rawFinishReason: finishReason,
  usage,
  modelMs: 0,
});

export function call(callId: string, toolName: string, args: Record<string, unknown> = {}): ModelEvent[] {
  return [
    { type: "tool_call_start", callId, toolName, documentType: "tool_call" },
    { type: "tool_call_arguments", callId, arguments: args },
  ];
}

type Turn = readonly (readonly ModelEvent[] | Error | "hang")[];

/** A model that plays turns: groups, an error to throw, or "hang" until it is aborted. Notes what it was asked. */
export function createFakeModel(turns: readonly Turn[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: "m",
    name: "M",
    apiKeySource: "none",
    requests,
    async *stream(request, signal) {
      const turn = turns[requests.length];
      requests.push({ ...request, messages: structuredClone(request.messages) });
      for (const step of turn ?? []) {
        if (step instanceof Error) throw step;
        if (step !== "hang") {
          yield step;
          continue;
        }
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      }
    },
  };
}

type FakeTool = (
  signal: AbortSignal,
  emit: (stream: "stdout" | "stderr", delta: string) => void,
  approval?: Approval,
  askPerson?: AskPerson,
) => Promise<ToolOutcome>;

const toQuestion = (callId: string): ApprovalQuestion => ({
  title: "May it run?",
  description: `The call ${callId} needs a permission.`,
  subject: { type: "tool_call" },
  options: (["allow_once", "allow_always", "reject_once", "reject_always"] as const).map((kind) => ({
    id: kind,
    label: kind,
    kind,
  })),
  argumentsHash: `hash of ${callId}`,
  rules: [`Shell(${callId})`],
});

/** Tools by name. A name that begins with `write` or `run` is no reader; one that holds `ask` needs an approval. */
export function createFakeTools(tools: Readonly<Record<string, FakeTool>>): ToolBox {
  return {
    definitions: [],
    accessOf: ({ toolName: name }): ToolAccess =>
      name.startsWith("write") ? "write" : name.startsWith("run") ? "command" : "read",
    checkArguments: async () => undefined,
    async review({ toolName, callId }) {
      return toolName.includes("ask") ? toQuestion(callId) : undefined;
    },
    async execute({ toolName }, { signal, emitOutput, approval, askPerson }) {
      return tools[toolName]!(signal, emitOutput, approval, askPerson);
    },
    async settle() {
      // Nothing runs on.
    },
  };
}

export const ok = (output = "ok"): ToolOutcome => ({ status: "success", output });

/** A store whose disk is full for the groups that the test names; `count`: of those before, and this one. */
export function createFullStore(isRefused: (events: readonly RunEvent[], count: number) => boolean): Store {
  const store = createSqliteStore(":memory:");
  let count = 0;
  return {
    ...store,
    async appendEvents(responseId, events, durability) {
      count += 1;
      if (isRefused(events, count)) throw new SheafError("STORAGE_FULL", "the disk is full", { source: "storage" });
      return store.appendEvents(responseId, events, durability);
    },
  };
}

export interface RunOptions extends AddedMessages {
  readonly tools?: ToolBox;
  readonly settings?: Partial<RunSettings>;
  readonly store?: Store;
  /** Called with each event; may abort, and may take its time as a slow reader does. */
  readonly onEvent?: (event: RunEvent, abort: (reason?: SheafError) => void) => unknown;
  readonly checkAnswer?: AnswerCheck | undefined;
  readonly controller?: AbortController;
  readonly approver?: Approver;
  readonly hooks?: Hooks;
}

/** Runs a model to the end and gives the log as it was delivered, in groups. */
export async function runModel(model: Model, options: RunOptions = {}): Promise<RunEvent[][]> {
  const controller = options.controller ?? new AbortController();
  const abort = (reason?: SheafError): void => controller.abort(reason);
  let time = 0;
  let approvals = 0;
  const settings = { start, history: [], system: "", limits: {}, stopsOnDenied: false, ...options.settings };
  const ports = {
    model,
    tools: options.tools ?? createFakeTools({}),
    store: options.store ?? createSqliteStore(":memory:"),
    now: () => (time += 1),
    newCallId: () => "call_x",
    newApprovalId: () => `appr_${(approvals += 1)}`,
    approver: options.approver,
    hooks: options.hooks,
    findQuote: async ({ content, startLine, endLine }: Quote) => {
      if (content === "moved") return { startLine: startLine + 2, endLine: endLine + 2 };
      return content === "right" ? { startLine, endLine } : undefined;
    },
    checkAnswer: options.checkAnswer,
    takeMessage: options.takeMessage,
    abort,
  };
  const groups: RunEvent[][] = [];
  for await (const events of respond(settings, ports, controller.signal)) {
    groups.push([...events]);
    for (const event of events) await options.onEvent?.(event, abort);
  }
  return groups;
}

export const types = (groups: readonly (readonly RunEvent[])[]) => groups.flat().map((event) => event.type);
export const last = (groups: readonly (readonly RunEvent[])[]) => groups.flat().at(-1);
