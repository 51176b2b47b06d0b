/** Completion for zsh. */
import type { CommandCompletion, CompletionTable, FlagCompletion, ValueCompletion } from "./completion-table.ts";

export function formatZshCompletion({ commands, flags }: CompletionTable): string {
  const rows = commands.map(({ name, help }) => `    ${quote(`${name}:${help}`)}\n`);
  return `#compdef sheaf
_sheaf_sessions() {
  local -a sessions
  sessions=("\${(@f)$(sheaf ls 2>/dev/null | sed -n 's/^\\([0-9a-f-]\\{36\\}\\)  /\\1:/p')}")
  _describe -t sessions session sessions
}
_sheaf() {
  local -a commands
  commands=(
${rows.join("")}  )
  local command="" at
  for ((at = 2; at < CURRENT; at++)); do
    if [[ \${words[at]} == (-p|--print|--) ]]; then break; fi
    if (( \${commands[(I)\${words[at]}:*]} )); then command=\${words[at]}; break; fi
  done
  case $command in
${commands.map(toCommandCase).join("")}    *)
      _arguments -S \\
${flags.flatMap(toArguments).join("")}        '1: :{_describe -t commands command commands}' \\
        '*: :_files' ;;
  esac
}
if [[ $funcstack[1] == _sheaf ]]; then _sheaf "$@"; else compdef _sheaf sheaf; fi
`;
}

function toCommandCase({ name, flags, word }: CommandCompletion): string {
  return `    ${name})
      _arguments -S \\
${flags.flatMap(toArguments).join("")}        '1: :' \\
        ${quote(`2: :${toAction(word)}`)} \\
        '*: :_files' ;;
`;
}

function toArguments({ spellings, help, value }: FlagCompletion): string[] {
  const text = help.replaceAll(/[[\]:\\]/g, "\\$&");
  return spellings.map((spelling) => {
    const isLong = spelling.startsWith("--");
    const tail = value ? `:value:${toAction(value)}` : "";
    return `        ${quote(`*${spelling}${value && isLong ? "=" : ""}[${text}]${tail}`)} \\\n`;
  });
}

function toAction(value: ValueCompletion): string {
  switch (value.kind) {
    case "words":
      return `(${value.words.map((word) => word.replaceAll(":", "\\:")).join(" ")})`;
    case "file":
      return "_files";
    case "folder":
      return "_files -/";
    case "session":
      return "_sheaf_sessions";
    case "text":
      return " ";
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
