import { randomUUID } from "node:crypto";
import { isCancel, select } from "@clack/prompts";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { runExport } from "../commands/export.ts";
import { formatRevert, revertSession } from "../commands/revert.ts";
import type { FlagValues } from "../flags.ts";
import { formatSlashHelp, type SlashCommandName, type SlashLine } from "./slash-commands.ts";
import { listOwnCommands, type OwnCommand } from "../own-commands.ts";
import { choose } from "./choose.ts";
import type { LineConsole } from "./line-console.ts";
import type { CommandIo } from "../io.ts";
import { formatFailure } from "../report-error.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { toConfig } from "../run-config.ts";
import { switchModel } from "../switch-model.ts";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { Store } from "@sheaf/store/store";

type Run = (words: readonly string[], state: InteractiveState, io: CommandIo) => Promise<void> | void;

/** Runs a slash command. Returns "quit" to leave the conversation. @throws SheafError if the command fails. */
export async function runSlashCommand(
  { name, words }: Extract<SlashLine, { kind: "command" }>,
  state: InteractiveState,
  io: CommandIo,
): Promise<"quit" | undefined> {
  if (name === "quit") return "quit";
  await commands[name](words, state, io);
  return undefined;
}

const commands: Readonly<Record<Exclude<SlashCommandName, "quit">, Run>> = {
  async help(_words, { flags, print, listServerCommands }, io) {
    print(formatSlashHelp([...listOwnCommands(toConfig(flags, io), io), ...((await listServerCommands?.()) ?? [])]));
  },
  mode([mode], state, io) {
    if (mode !== undefined) {
      const { plan: _, ...rest } = state.flags;
      change({ ...rest, mode }, state, io);
    }
    state.print(`mode: ${toConfig(state.flags, io).mode}\n`);
  },
  model([model], state, io) {
    // Check the name now, instead of at the next prompt.
    if (model !== undefined) state.flags = switchModel(state.flags, model, io);
    state.print(`model: ${toConfig(state.flags, io).model ?? "none"}\n`);
  },
  ask([what], state, io) {
    if (what !== undefined) {
      const rules = askRules.get(what);
      if (!rules) throw new SheafError("USAGE", `/ask "${what}" is unknown: use edits, all or off`);
      change({ ...state.flags, ask: rules }, state, io);
    }
    const { ask } = toConfig(state.flags, io).permissions;
    state.print(`ask first: ${ask.length === 0 ? "off" : ask.join(", ")}\n`);
  },
  compact: (_words, state) => state.shorten(),
  new(_words, state) {
    state.session = randomUUID();
    state.print(`new session: ${state.session}\n`);
  },
  async resume([session], state, io) {
    const chosen = await withSessionStore(io, state.flags.workspace?.at(-1), async (store, { workspace }) =>
      session === undefined
        ? chooseSession(store, workspace, state.console)
        : toBareId(await findConversation(store, session)),
    );
    if (chosen === undefined) return;
    state.session = chosen;
    state.print(`session: ${state.session}\n`);
  },
  revert: revertLast,
  async export([format = "markdown", file], state, io) {
    const output = file ?? `session-${state.session}.${extensions[format] ?? format}`;
    await runExport({ command: "export", flags: { format, output }, positionals: [state.session] }, io);
    state.print(`written: ${output}\n`);
  },
};

/** Rules of each word of `/ask` (C64), added to the configuration's rules. */
const askRules: ReadonlyMap<string, readonly string[]> = new Map([
  ["edits", ["Write(**)"]],
  ["all", ["Write(**)", "Shell(*)"]],
  ["off", []],
]);

const extensions: Readonly<Record<string, string>> = { markdown: "md" };

/** Sets the flags. @throws SheafError USAGE for an invalid value; the state then stays unchanged. */
function change(flags: InteractiveState["flags"], state: InteractiveState, io: CommandIo): void {
  toConfig(flags, io);
  state.flags = flags;
}

/** Shows a menu of this folder's newest sessions. */
async function chooseSession(
  store: Store,
  workspace: string,
  keys: InteractiveState["console"],
): Promise<string | undefined> {
  const sessions = await store.listConversations({ limit: 20, workspace });
  if (sessions.length === 0) throw new SheafError("USAGE", "this folder has no session to continue");
  const options = sessions.map(({ id, title }) => ({ value: toBareId(id), label: toVisibleLine(title) }));
  const ask = () => select({ message: "Which session?", options });
  const chosen = await (keys ? keys.yield(ask) : ask());
  return isCancel(chosen) ? undefined : chosen;
}

/** Reverts the last response; the user decides about files that have changed since. */
async function revertLast([word]: readonly string[], state: InteractiveState, io: CommandIo): Promise<void> {
  const revert = async (onConflict: RevertAnswer): Promise<void> => {
    const order = { session: state.session, onConflict, workspace: state.flags.workspace?.at(-1) };
    state.print(formatRevert(await revertSession(order, io)));
  };
  if (word !== undefined && word !== "leave" && word !== "overwrite") {
    throw new SheafError("USAGE", `/revert ${word} is unknown: use /revert, /revert leave or /revert overwrite`);
  }
  try {
    await revert(word ?? "refuse");
  } catch (error) {
    const known = toSheafError(error);
    if (known.code !== "PERMISSION_REQUIRED") throw known;
    const answer = await state.chooseRevert(known);
    if (answer !== undefined) await revert(answer);
  }
}

/** Treatment of files that have changed since. */
type RevertAnswer = "refuse" | "leave" | "overwrite";

/** Shows a menu after a conflict; undefined: the user chose neither. */
export async function chooseRevert({ code, message }: SheafError): Promise<RevertAnswer | undefined> {
  process.stderr.write(formatFailure({ code, message }, false));
  const chosen = await choose({
    message: "Nothing was reverted. What now?",
    options: [
      { value: "cancel", label: "Leave everything as it is" },
      { value: "leave", label: "Revert the rest" },
      { value: "overwrite", label: "Restore the old content anyway" },
    ] as const,
    initialValue: "cancel",
  });
  return chosen === "cancel" ? undefined : chosen;
}

export interface InteractiveState {
  /** Source of a menu's keys; undefined: the terminal itself. */
  readonly console?: Pick<LineConsole, "yield">;
  /** Flags of the start, with changes by `/mode` and `/model`. */
  flags: FlagValues;
  /** Session id, a UUID (C14). */
  session: string;
  /** Lists prompts of the running tool servers; undefined if the program never has any. */
  readonly listServerCommands?: () => Promise<readonly OwnCommand[]>;
  /** Summarises the conversation (C35). */
  readonly shorten: () => Promise<void>;
  /** Shows the output of a command. */
  readonly print: (text: string) => void;
  /** Asks about changed files after a failed revert; undefined: leave it at that. */
  readonly chooseRevert: (conflict: SheafError) => Promise<RevertAnswer | undefined>;
}
