/** `sheaf completion bash|zsh|fish`: a script for the shell, which asks `sheaf completion -- WORD…` at each Tab. */
import { SheafError } from "@sheaf/base/errors";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { completeWords, type CompletedWord } from "../complete-words.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printText } from "../standard-output.ts";

/** Sessions that are offered, newest first. */
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
  throw new SheafError(
    "USAGE",
    `completion takes one shell; "${positionals.join(" ")}" was given: use one of ${names}`,
  );
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
