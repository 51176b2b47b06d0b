/** `sheaf completion bash|zsh|fish`: a script for the shell, which asks `sheaf completion -- WORD…` at each Tab. */
import { SheafError } from "@sheaf/base/errors";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printText } from "../standard-output.ts";
import { modelStreamFormats } from "@sheaf/documents/model-streams";
import { outputFormats } from "@sheaf/agent/output/projection";
import { usageKeys } from "@sheaf/agent/output/usage-report";
import { schemaNames } from "@sheaf/protocol/schemas";
import { providerPresets } from "@sheaf/agent/config/provider-presets";
import { modes } from "@sheaf/agent/config/config";
import { commandDefinitions, commandNames, helpTopics, isCommandName, listChoices } from "../command-definitions.ts";
import { listFlags } from "../flags.ts";

/** Number of suggested sessions, the newest ones. */
const SESSION_LIMIT = 50;

// The answer has a line for each word, with its help after a tab, or the one line `:file` or `:folder`.
const scripts: Readonly<Record<string, string>> = {
  bash: `# bash completion of sheaf
_sheaf() {
  local current="\${COMP_WORDS[COMP_CWORD]}" rows
  rows=$(sheaf completion -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  case "$rows" in
    :file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    :folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    ?*) mapfile -t COMPREPLY < <(cut -f 1 <<< "$rows") ;;
  esac
}
complete -F _sheaf sheaf
`,
  zsh: `#compdef sheaf
_sheaf() {
  local -a rows
  rows=("\${(@f)$(sheaf completion -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case $rows[1] in
    :file) compset -P '--*='; _files ;;
    :folder) compset -P '--*='; _files -/ ;;
    ?*) rows=("\${(@)rows//:/\\\\:}"); rows=("\${(@)rows/$'\t'/:}"); _describe -V sheaf rows ;;
  esac
}
if [[ $funcstack[1] == _sheaf ]]; then _sheaf "$@"; else compdef _sheaf sheaf; fi
`,
  fish: `# fish completion of sheaf
function __sheaf_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l rows (sheaf completion -- $before[2..] "$current" 2>/dev/null)
  switch "$rows[1]"
    case :file
      __fish_complete_path "$current"
    case :folder
      __fish_complete_directories "$current"
    case '*'
      printf '%s\\n' $rows
  end
end
complete -c sheaf -f -a '(__sheaf_complete)'
`,
};

/** Prints the script, or completes the words. @throws SheafError USAGE for an unknown shell. */
export async function runCompletion({ positionals, textStart }: ParsedArguments, io: CommandIo): Promise<number> {
  if (textStart === 0) return printText(io, await formatCompletion(positionals, io));
  const [word = "", ...rest] = positionals;
  if (rest.length === 0 && Object.hasOwn(scripts, word)) return printText(io, scripts[word]!);
  const names = Object.keys(scripts).join(", ");
  const problem = word === "" ? "completion needs a shell" : `completion takes no "${positionals.join(" ")}"`;
  throw new SheafError("USAGE", `${problem}: use one of ${names}`);
}

async function formatCompletion(given: readonly string[], io: CommandIo): Promise<string> {
  // bash takes `--mode=plan` for three words.
  const words = given.filter((word, index) => word !== "=" || index === given.length - 1);
  const current = words.at(-1) === "=" ? "" : (words.at(-1) ?? "");
  const completion = completeWords([...words.slice(0, -1), current]);
  if (completion.kind === "file" || completion.kind === "folder") return `:${completion.kind}\n`;
  const rows = completion.kind === "words" ? completion.rows : await listSessions(io);
  return rows
    .filter(([word]) => word.startsWith(current))
    .map(([word, help]) => (help === "" ? `${word}\n` : `${word}\t${help}\n`))
    .join("");
}

function listSessions(io: CommandIo): Promise<CompletedWord[]> {
  return withSessionStore(io, undefined, async (store, { workspace }) => {
    const sessions = await store.listConversations({ limit: SESSION_LIMIT, workspace });
    return sessions.map(({ id, title }) => [toBareId(id), toVisibleLine(title)] as const);
  });
}

/** A word with its help, or with "". */
export type CompletedWord = readonly [word: string, help: string];

/** Completion of a word. The shell completes files and folders itself; Sheaf looks up ids on demand. */
export type WordCompletion =
  | { readonly kind: "words"; readonly rows: readonly CompletedWord[] }
  | { readonly kind: "file" | "folder" | "session" };

/** Values by the name of a flag or command, or by the placeholder in a usage. */
const values: Readonly<Record<string, WordCompletion>> = {
  "output-format": toRows(outputFormats),
  from: toRows([...modelStreamFormats, "cursor-stream-json"]),
  by: toRows(usageKeys),
  schema: toRows([...schemaNames, "config"]),
  COMMAND: toRows([...helpTopics, ...commandNames]),
  DIR: { kind: "folder" },
  FILE: { kind: "file" },
  blame: { kind: "file" },
  ID: { kind: "session" },
  MODE: toRows(modes),
  MODEL: toRows(["offline", "scripted:"]),
  PROVIDER: toRows([...providerPresets.keys()]),
  SESSION: { kind: "session" },
};

/** Completes the last of the words after `sheaf`, which may be empty. */
export function completeWords(words: readonly string[]): WordCompletion {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  if (before.includes("--")) return { kind: "file" };
  const end = before.findIndex((word) => word === "-p" || word === "--print");
  const command = before.slice(0, end === -1 ? undefined : end).find(isCommandName);
  const flags = listFlags(command ?? "prompt");
  const attached = /^(--[^=]+)=/.exec(current);
  const spelling = attached?.[1] ?? before.at(-1) ?? "";
  const flag = flags.find(({ kind, spellings }) => kind !== "switch" && spellings.includes(spelling));
  if (flag) return withPrefix(attached?.[0] ?? "", completeValue(flag.placeholder, flag.name));
  if (current.startsWith("-")) {
    const rows = flags.flatMap(({ spellings, help }) => spellings.map((word) => [word, help] as const));
    return { kind: "words", rows };
  }
  if (command !== undefined) {
    const { usage = "", actions } = commandDefinitions[command];
    return actions ? toRows(actions) : completeValue(usage, command);
  }
  if (before.length > 0) return { kind: "file" };
  return { kind: "words", rows: commandNames.map((name) => [name, commandDefinitions[name].summary]) };
}

function withPrefix(prefix: string, completion: WordCompletion): WordCompletion {
  if (completion.kind !== "words") return completion;
  return { kind: "words", rows: completion.rows.map(([word, help]) => [`${prefix}${word}`, help]) };
}

function completeValue(usage: string, name: string): WordCompletion {
  const [place = ""] = usage.replaceAll(/[[\]…]/g, "").split(" ");
  return values[name] ?? values[place] ?? toRows(listChoices(usage));
}

function toRows(words: readonly string[]): WordCompletion {
  return { kind: "words", rows: words.map((word) => [word, ""]) };
}
