/** Completion for fish. */
import type { CompletionTable, FlagCompletion, ValueCompletion } from "./completion-table.ts";

export function formatFishCompletion({ commands, flags }: CompletionTable): string {
  const names = commands.map(({ name }) => name).join(" ");
  const lines = [
    "# fish completion of sheaf",
    "function __sheaf_sessions",
    String.raw`  sheaf ls 2>/dev/null | string replace -rf '^([0-9a-f-]{36})  (.*)$' '$1\t$2'`,
    "end",
    "complete -c sheaf -e",
    ...commands.map(({ name, help }) => `complete -c sheaf -f -n __fish_use_subcommand -a ${name} -d ${quote(help)}`),
    ...flags.map((flag) => toLine(flag, `not __fish_seen_subcommand_from ${names}`)),
    ...commands.flatMap(({ name, flags: own, word }) => [
      ...own.map((flag) => toLine(flag, `__fish_seen_subcommand_from ${name}`)),
      ...(word.kind === "text" ? [] : [`complete -c sheaf -n '__fish_seen_subcommand_from ${name}' ${toValue(word)}`]),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

function toLine({ spellings, help, value }: FlagCompletion, condition: string): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith("--") ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  const tail = value ? ` -r ${toValue(value)}` : "";
  return `complete -c sheaf -n '${condition}' ${names.join(" ")} -d ${quote(help)}${tail}`;
}

function toValue(value: ValueCompletion): string {
  switch (value.kind) {
    case "words":
      return `-f -a ${quote(value.words.join(" "))}`;
    case "file":
      return "-F";
    case "folder":
      return "-f -a '(__fish_complete_directories)'";
    case "session":
      return "-f -a '(__sheaf_sessions)'";
    case "text":
      return "-f";
  }
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}
