/** Commands in a conversation, which start with a slash. */
import { findNearest } from "@sheaf/base/nearest-names";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { listChoices } from "../command-definitions.ts";
import type { OwnCommand } from "../own-commands.ts";

interface SlashCommandHelp {
  readonly usage: string;
  readonly help: string;
}

const slashCommands = {
  help: { usage: "", help: "show these commands" },
  mode: { usage: "[agent|plan|ask|debug]", help: "show or change the mode" },
  model: { usage: "[NAME]", help: "show or change the model" },
  ask: { usage: "[edits|all|off]", help: "show or change which calls need your approval" },
  compact: { usage: "", help: "summarise the conversation so far, to make room" },
  new: { usage: "", help: "start a new session" },
  resume: { usage: "[SESSION]", help: "continue another session" },
  revert: { usage: "[leave|overwrite]", help: "undo the last response, files and history" },
  export: { usage: "[json|markdown] [FILE]", help: "write the session to a file" },
  quit: { usage: "", help: "leave (also Ctrl-D, or Ctrl-C twice)" },
} as const satisfies Record<string, SlashCommandHelp>;

export type SlashCommandName = keyof typeof slashCommands;

/** Commands for editors, which start, open and leave sessions in other ways (C55). */
const editorNames = ["mode", "model", "ask", "compact", "revert"] as const satisfies SlashCommandName[];

export function isEditorCommand(name: SlashCommandName): boolean {
  return (editorNames as readonly string[]).includes(name);
}

/** Lists commands for an editor's menu, with names without the slash. */
export function listEditorCommands(
  own: readonly OwnCommand[],
): { readonly name: string; readonly usage: string; readonly help: string }[] {
  const others = toOthers(own).map(({ name, hint, description }) => ({ name, usage: hint, help: description }));
  return [...editorNames.map((name) => ({ name, ...slashCommands[name] })), ...others];
}

export type SlashLine =
  | { readonly kind: "command"; readonly name: SlashCommandName; readonly words: readonly string[] }
  /** A message to the user: sending the line as a prompt would cost money. */
  | { readonly kind: "unknown"; readonly message: string };

/**
 * Returns the command of a line; undefined for a prompt, such as a path `/etc/hosts`, or a command of the user or the
 * repository, whose text becomes part of the prompt (C91). Sheaf's commands have priority over these (C93).
 */
export function parseSlashLine(line: string, listOwn: () => readonly OwnCommand[] = () => []): SlashLine | undefined {
  const match = /^\/([A-Za-z]*)(?:\s+(.*))?$/s.exec(line.trim());
  if (!match) return undefined;
  const [, given = "", rest = ""] = match;
  const name = given.toLowerCase();
  if (Object.hasOwn(slashCommands, name)) {
    const words = rest.split(/\s+/).filter((word) => word !== "");
    return { kind: "command", name: name as SlashCommandName, words };
  }
  const own = listOwn().map((command) => command.name);
  if (own.includes(given)) return undefined;
  const [nearest] = findNearest(name, [...Object.keys(slashCommands), ...own]);
  const advice = nearest === undefined ? "see /help" : `did you mean /${nearest}?`;
  return { kind: "unknown", message: `/${given} is not a command: ${advice}` };
}

/** Returns completions at the end of the line. */
export function completeSlashLine(line: string, listOwn: () => readonly OwnCommand[] = () => []): string[] {
  const [, command] = /^\/(mode|ask)\s+\w*$/.exec(line) ?? [];
  if (command === "mode" || command === "ask") {
    const values = listChoices(slashCommands[command].usage);
    return values.map((value) => `/${command} ${value}`).filter((text) => text.startsWith(line));
  }
  if (!/^\/\S*$/.test(line)) return [];
  const names = [...Object.keys(slashCommands), ...toOthers(listOwn()).map(({ name }) => name)];
  return names.map((name) => `/${name}`).filter((name) => name.startsWith(line));
}

/** Returns the user's commands whose names aren't Sheaf's. */
function toOthers(own: readonly OwnCommand[]): readonly OwnCommand[] {
  return own.filter(({ name }) => !Object.hasOwn(slashCommands, name.toLowerCase()));
}

/** Length of a description in `/help`, in UTF-16 units. */
const MAX_HELP = 100;

export function formatSlashHelp(own: readonly OwnCommand[] = []): string {
  const others = toOthers(own).map(({ name, hint, description }) => {
    const help = description.length > MAX_HELP ? `${description.slice(0, MAX_HELP).toWellFormed()}…` : description;
    return [toVisibleLine(`/${name} ${hint}`).trim(), toVisibleLine(help)] as const;
  });
  const builtIn = Object.entries(slashCommands).map(
    ([name, { usage, help }]) => [`/${name} ${usage}`.trim(), help] as const,
  );
  const rows = [...builtIn, ...others];
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${`  ${left.padEnd(width)}  ${right}`.trimEnd()}\n`).join("");
}
