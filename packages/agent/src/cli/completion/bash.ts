/** Completion for bash; works without the bash-completion package. */
import type { CommandCompletion, CompletionTable, FlagCompletion, ValueCompletion } from "./completion-table.ts";

export function formatBashCompletion({ commands, flags }: CompletionTable): string {
  const names = commands.map(({ name }) => name);
  return `# bash completion of sheaf
_sheaf_sessions() { sheaf ls 2>/dev/null | sed -n 's/^\\([0-9a-f-]\\{36\\}\\) .*/\\1/p'; }
_sheaf() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" command="" at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${COMP_WORDS[at]}" in
      ${names.join("|")}) command="\${COMP_WORDS[at]}"; break ;;
      -p|--print|--) break ;;
    esac
  done
  case "$previous" in
${toValueCases(commands, flags)}  esac
  case "$command" in
${commands.map(toCommandCase).join("")}    *)
      if [[ $current == -* ]]; then ${toReply(toSpellings(flags))}
      elif ((COMP_CWORD == 1)); then ${toReply(names)}
      else ${toFiles("file")}; fi ;;
  esac
}
complete -F _sheaf sheaf
`;
}

function toCommandCase({ name, flags, word }: CommandCompletion): string {
  return `    ${name})
      if [[ $current == -* ]]; then ${toReply(toSpellings(flags))}
      else ${toValueReply(word)}; fi ;;
`;
}

/** One case for each flag that takes a value; a flag has the same values in every command. */
function toValueCases(commands: readonly CommandCompletion[], flags: readonly FlagCompletion[]): string {
  const all = new Map(
    [...flags, ...commands.flatMap((command) => command.flags)].map((flag) => [flag.spellings[0], flag]),
  );
  return [...all.values()]
    .flatMap(({ spellings, value }) =>
      value ? [`    ${spellings.join("|")}) ${toValueReply(value)}; return ;;\n`] : [],
    )
    .join("");
}

function toValueReply(value: ValueCompletion): string {
  switch (value.kind) {
    case "words":
      return toReply(value.words);
    case "session":
      return `mapfile -t COMPREPLY < <(compgen -W "$(_sheaf_sessions)" -- "$current")`;
    case "text":
      return ":";
    default:
      return toFiles(value.kind);
  }
}

function toSpellings(flags: readonly FlagCompletion[]): string[] {
  return flags.flatMap(({ spellings }) => spellings);
}

function toReply(words: readonly string[]): string {
  return `mapfile -t COMPREPLY < <(compgen -W "${words.join(" ")}" -- "$current")`;
}

function toFiles(kind: "file" | "folder"): string {
  return `compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -${kind === "file" ? "f" : "d"} -- "$current")`;
}
