/** A tiny loop around a model: calls are executed on files in memory, as the tools of the agent would answer. */
import type { Mode, ModelEvent, TurnEnd } from "@sheaf/protocol";
import { addLineNumbers } from "@sheaf/base/files/numbered-lines";
import type { Model, ModelMessage, ModelToolCall } from "../src/provider.ts";

interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Turn {
  /** Deltas as they came. */
  readonly deltas: readonly string[];
  readonly text: string;
  readonly calls: readonly Call[];
  readonly end: TurnEnd;
  readonly groups: readonly (readonly ModelEvent[])[];
}

export interface Conversation {
  readonly turns: readonly Turn[];
  /** All texts joined, as `result` has them (C7). */
  readonly result: string;
  /** Text of the last turn. */
  readonly answer: string;
  readonly calls: readonly Call[];
  readonly messages: readonly ModelMessage[];
  readonly files: ReadonlyMap<string, string>;
}

export interface World {
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: Mode;
  /** Output of commands. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Messages of earlier responses. */
  readonly history?: readonly ModelMessage[];
  /** No message is added to the history: its last question was answered. */
  readonly isSilent?: boolean;
}

/** Runs one prompt to its end; a question ends it too, as in the agent. */
export async function runModel(model: Model, prompt: string, world: World = {}): Promise<Conversation> {
  const { mode = "agent", history = [] } = world;
  const files = new Map(Object.entries(world.files ?? {}));
  const messages: ModelMessage[] = [...history, ...(world.isSilent ? [] : [{ role: "user" as const, text: prompt }])];
  const turns: Turn[] = [];
  let number = history.length;
  const newCallId = (): string => `call_${(number += 1)}`;

  for (let count = 0; count < 12; count += 1) {
    const system = "You are a coding agent.";
    const request = { system, messages: [...messages], tools: [], mode, newCallId };
    const turn = await runTurn(model, request);
    turns.push(turn.turn);
    messages.push({ role: "assistant", content: turn.content });
    const calls = turn.content.filter((part) => part.type === "tool_call");
    for (const call of calls)
      messages.push({ role: "tool", callId: call.callId, toolName: call.toolName, ...execute(call, files, world) });
    if (calls.length === 0 || calls.some(({ toolName }) => toolName === "ask_question")) {
      return {
        turns,
        result: turns.map(({ text }) => text).join(""),
        answer: turn.turn.text,
        calls: turns.flatMap((entry) => entry.calls),
        messages,
        files,
      };
    }
  }
  throw new Error(`the model does not end on: ${prompt.slice(0, 200)}`);
}

async function runTurn(
  model: Model,
  request: Parameters<Model["stream"]>[0],
): Promise<{ turn: Turn; content: ({ type: "text"; text: string } | ModelToolCall)[] }> {
  const groups: (readonly ModelEvent[])[] = [];
  for await (const group of model.stream(request, new AbortController().signal)) groups.push(group);
  const events = groups.flat();
  const end = events.at(-1);
  if (end?.type !== "turn_end") throw new Error("the last event is no turn_end");
  if (events.filter(({ type }) => type === "turn_end").length > 1) throw new Error("several turn_end");
  const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
  const names = new Map(
    events.flatMap((event) => (event.type === "tool_call_start" ? [[event.callId, event.toolName] as const] : [])),
  );
  const calls = events.flatMap((event): ModelToolCall[] =>
    event.type === "tool_call_arguments"
      ? [
          {
            type: "tool_call",
            callId: event.callId,
            toolName: names.get(event.callId) ?? "",
            arguments: event.arguments,
          },
        ]
      : [],
  );
  const text = deltas.join("");
  const content = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls];
  const turn = {
    deltas,
    text,
    calls: calls.map(({ toolName, arguments: args }) => ({ tool: toolName, args })),
    end,
    groups,
  };
  return { turn, content };
}

type Result = { readonly output: string; readonly isError: boolean };

function execute({ toolName, arguments: args }: ModelToolCall, files: Map<string, string>, world: World): Result {
  const text = (name: string): string => (typeof args[name] === "string" ? args[name] : "");
  const path = text("target_file");
  switch (toolName) {
    case "read_file":
      return read(path, args, files);
    case "write_file":
      files.set(path, text("content"));
      return { output: `Created ${path}.`, isError: false };
    case "edit_file":
      return edit(path, args["edits"], files);
    case "list_dir":
      return { output: formatTree(text("target_directory"), [...files.keys()]), isError: false };
    case "run_terminal_cmd":
      return { output: world.commands?.[text("command")] ?? "Exit code 0, no output.", isError: false };
    case "ask_question":
      return { output: "The user has the question. The next message has the answer.", isError: false };
    default:
      return { output: "done", isError: false };
  }
}

function missing(path: string): Result {
  return { output: `FILE_NOT_FOUND: ${path} does not exist: look for it with glob_search`, isError: true };
}

function read(path: string, args: Readonly<Record<string, unknown>>, files: ReadonlyMap<string, string>): Result {
  const content = files.get(path);
  if (content === undefined) return missing(path);
  if (content === "") return { output: "The file is empty.", isError: false };
  const lines = content.split("\n");
  const start = Number(args["offset"] ?? 1);
  const end = Math.min(lines.length, start - 1 + Number(args["limit"] ?? 2000));
  if (start > lines.length)
    return { output: `OFFSET_OUT_OF_RANGE: offset ${start} is past the end of ${path}`, isError: true };
  const text = lines.slice(start - 1, end).join("\n") + (end < lines.length ? "\n" : "");
  const numbered = addLineNumbers(text, start);
  if (start === 1 && end === lines.length) return { output: numbered, isError: false };
  const note = `Lines ${start} to ${end} of ${lines.length} (the file has ${content.length} bytes).`;
  return {
    output: `${numbered}\n${note}${end < lines.length ? ` Continue with offset ${end + 1}.` : ""}`,
    isError: false,
  };
}

function edit(path: string, edits: unknown, files: Map<string, string>): Result {
  const content = files.get(path);
  if (content === undefined) return missing(path);
  const [first] = edits as { old_string: string; new_string: string; replace_all?: boolean }[];
  const places = first ? content.split(first.old_string).length - 1 : 0;
  if (!first || places === 0) return { output: "TEXT_NOT_FOUND: no place", isError: true };
  if (places > 1 && !first.replace_all) return { output: "AMBIGUOUS_EDIT: several places", isError: true };
  files.set(
    path,
    content.replaceAll(first.old_string, () => first.new_string),
  );
  return { output: `Edited ${path}.`, isError: false };
}

/** The tree of `list_dir`: folders end in a slash, two blanks a level. */
function formatTree(folder: string, paths: readonly string[]): string {
  const base = folder === "." ? "" : `${folder.replace(/\/$/, "")}/`;
  const lines = new Set<string>();
  for (const path of paths.toSorted()) {
    if (!path.startsWith(base)) continue;
    const parts = path.slice(base.length).split("/");
    parts.forEach((part, depth) => {
      const isFolder = depth < parts.length - 1;
      lines.add(`${"  ".repeat(depth)}${part}${isFolder ? "/" : ""}`);
    });
  }
  return [...lines].join("\n");
}
