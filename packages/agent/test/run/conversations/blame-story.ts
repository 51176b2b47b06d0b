/** Seeded conversations that change files, with the origin that each of their lines truly has. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";
import { createPolicy } from "../../../../permissions/test/policy.ts";
import { createWorkspace } from "../../../../base/src/files/workspace.ts";
import { recordCommands } from "../../../src/assemble/prepare-undo.ts";
import { blameFile, type BlamedLine } from "../../../src/run/conversations/blame.ts";
import { openConversation } from "../../../src/run/conversations/open-conversation.ts";
import { revertConversation } from "../../../src/run/conversations/revert.ts";
import { createUndoPorts } from "../../../src/run/conversations/undo-ports.ts";
import { createToolBox } from "../../../src/tools/tool-box.ts";
import { createRunUndo } from "../../../src/workspace/undo/run-undo.ts";
import { playCommands } from "../../tools/ended-command.ts";
import { start } from "../fake-ports.ts";
import { replace } from "./tool-session.ts";

/** A line, and who wrote it: the id of a call, or "person". */
interface TrueLine {
  readonly text: string;
  readonly by: string;
}

/** By path. */
export type TrueFiles = Map<string, TrueLine[]>;

/** A change of files, by the tool or as a command does it; it keeps `files` true. */
export interface Act {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  /** Undefined: the tool itself changes the files. */
  readonly command?: (() => void) | undefined;
}

export interface Story {
  readonly root: string;
  readonly store: SharedStore;
  readonly files: TrueFiles;
  /** Ids of the calls that ran a command. */
  readonly commands: ReadonlySet<string>;
  /** Writes every file of `files`, and removes the others. */
  readonly settle: (lineEnd?: string) => void;
  /** Each turn is some acts; between two turns Sheaf records, as it does while a model answers. */
  readonly respond: (conversationId: string, turns: readonly ((callId: string) => Act)[][]) => Promise<string>;
  readonly revert: (conversationId: string) => Promise<void>;
  readonly blame: (path: string, signal?: AbortSignal) => Promise<readonly BlamedLine[] | undefined>;
  readonly git: (...words: readonly string[]) => void;
}

const toText = (lines: readonly TrueLine[], end = "\n"): string => lines.map(({ text }) => text + end).join("");

export function createStory(root = createTemporaryFolder(), hasStates = true): Story {
  const dataFolder = createTemporaryFolder();
  const store = createSqliteStore(":memory:");
  const environment = { PATH: process.env.PATH };
  const git = { program: "/usr/bin/git", environment };
  const files: TrueFiles = new Map();
  const before = new Map<string, TrueFiles>();
  const written = new Set<string>();
  const commandIds = new Set<string>();
  let count = 0;

  const settle: Story["settle"] = (lineEnd) => {
    for (const path of written) if (!files.has(path)) rmSync(join(root, path), { force: true });
    for (const [path, lines] of files) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), toText(lines, lineEnd));
      written.add(path);
    }
  };

  const respond: Story["respond"] = async (conversationId, turns) => {
    const responseId = `chat_${(count += 1)}`;
    before.set(responseId, new Map([...files].map(([path, lines]) => [path, [...lines]])));
    const { state } = await openConversation(store, conversationId, Date.now);
    const ids = { conversationId, responseId };
    const undo = hasStates ? createRunUndo({ folders: [root], dataFolder, git, ...ids, now: Date.now }) : undefined;
    const permissions = createPolicy({ force: true });
    let play: (() => void) | undefined;
    const commands = playCommands(() => {
      play?.();
      return {};
    });
    const tools = createToolBox({
      workspace: createWorkspace(root),
      commands: recordCommands(commands, undo, { conversationId, permissions }),
      search: () => Promise.reject(new Error("no searches here")),
      permissions,
      state,
      undo,
      mode: "agent",
    });
    await store.createResponse({ id: responseId, conversationId, workspace: root, title: "", createdAt: Date.now() });
    let seq = 0;
    const append = (event: object): Promise<void> =>
      store.appendEvents(responseId, [{ ...event, seq: (seq += 1), time: Date.now() } as RunEvent], "grouped");
    await append({ type: "run_start", ...start, ...ids, workspace: root, prompt: `Prompt of ${responseId}` });
    let calls = 0;
    for (const turn of turns) {
      for (const toAct of turn) {
        const callId = `call_${responseId.slice(5)}_${(calls += 1)}`;
        const act = toAct(callId);
        const toolName = act.tool;
        await append({ type: "tool_call_start", callId, toolName, documentType: "tool_call" });
        await append({ type: "tool_call_arguments", callId, arguments: act.arguments });
        play = act.command;
        if (play) commandIds.add(callId);
        const call = { callId, toolName, arguments: act.arguments };
        const outcome = await tools.execute(call, {
          signal: new AbortController().signal,
          emitOutput: () => undefined,
        });
        if (outcome.status !== "success") throw new Error(JSON.stringify([act, outcome]));
        await append({ type: "tool_result", callId, ...outcome, durationMs: 0 });
        for (const path of files.keys()) written.add(path);
      }
      undo?.record();
    }
    await undo?.end();
    await append({ type: "run_end", reason: "end_turn" });
    return responseId;
  };

  return {
    root,
    store,
    files,
    commands: commandIds,
    settle,
    respond,
    git: (...words) =>
      void execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=a@b.c", ...words], { cwd: root }),
    async revert(conversationId) {
      const ports = createUndoPorts({ store, conversationId, dataFolder, environment });
      const { reverted, responseIds } = await revertConversation(
        { conversationId, responseId: undefined, onConflict: "refuse" },
        ports,
      );
      if (!reverted) throw new Error("the revert was refused");
      files.clear();
      for (const [path, lines] of before.get(responseIds[0]!)!) files.set(path, lines);
    },
    blame: (path, signal) => {
      const place = { store, dataFolder, environment, now: Date.now, signal };
      return blameFile(join(root, path), readFileSync(join(root, path)), place);
    },
  };
}

/** A random number below `count`, from a seed. */
export function createDice(seed: number): (count: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (count) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return (state >>> 8) % count;
  };
}

const common = ["}", "", "  return x;", "});"];

/** New lines: most have a text of their own, some are those that every program has many times. */
function createLines(by: string, dice: (count: number) => number): TrueLine[] {
  const toLine = (): TrueLine => ({ by, text: dice(8) === 0 ? common[dice(4)]! : `  ${by} ${dice(1_000_000)};` });
  return Array.from({ length: 1 + dice(5) }, toLine);
}

/** A person or a command: inserts, replaces, removes or moves lines of a file, renames it, or makes one. */
export function changeFiles(
  files: TrueFiles,
  by: string,
  dice: (count: number) => number,
  [path, lines] = [...files][dice(files.size)]!,
): void {
  const [at, what] = [dice(lines.length + 1), dice(7)];
  if (what < 2) lines.splice(at, 0, ...createLines(by, dice));
  else if (what < 4) lines.splice(at, 1 + dice(3), ...createLines(by, dice));
  else if (what === 4 && lines.length > 4) lines.splice(at, 1);
  else if (what === 5) {
    files.delete(path);
    files.set(`src/${by}-${dice(1000)}.txt`, lines);
  } else files.set(`src/${by}-${dice(1000)}.txt`, [...createLines(by, dice), ...createLines(by, dice)]);
}

/** A call of a file tool, or a command. */
export function chooseAct(story: Story, dice: (count: number) => number): (callId: string) => Act {
  return (by) => {
    const { files } = story;
    const [path, lines] = [...files][dice(files.size)]!;
    const what = dice(10);
    const at = lines.findIndex(({ text }, index) => index >= dice(lines.length + 1) && text.includes(" call_"));
    if (what === 0) {
      const made = [...createLines(by, dice), ...createLines(by, dice)];
      files.set(`${by}.txt`, made);
      return { tool: "write_file", arguments: { target_file: `${by}.txt`, content: toText(made) } };
    }
    if (what === 1) {
      const to = `lib/${by}.txt`;
      files.delete(path);
      files.set(to, lines);
      return { tool: "rename_file", arguments: { source_file: path, destination_file: to } };
    }
    if (what < 6 && at >= 0) {
      const old = lines[at]!;
      const isUnique = lines.filter(({ text }) => text === old.text).length === 1;
      const added = createLines(by, dice);
      if (isUnique) {
        const keeps = dice(2) === 0;
        lines.splice(at, 1, ...(keeps ? [old] : []), ...added);
        const next = toText(keeps ? [old, ...added] : added).slice(0, -1);
        const [tool, args] = replace(path, old.text, next);
        return { tool, arguments: args };
      }
    }
    // Most commands name their file, and some are programs that change any file.
    const words = dice(4) === 0 ? "node change.js" : `sed -i s/a/b/ ${path}`;
    const command = (): void => {
      changeFiles(files, by, dice, [path, lines]);
      if (dice(4) === 0) changeFiles(files, by, dice);
      story.settle();
    };
    return { tool: "run_terminal_cmd", arguments: { command: words }, command };
  };
}
