/** The manual page `sheaf(1)`, made from the same tables as the help. */
import { errorTable } from "../base/errors.ts";
import { sheafVersion } from "../base/version.ts";
import { commandDescriptions } from "./command-descriptions.ts";
import { commandNames, commandUsages } from "./command-usages.ts";
import { flags, type Flag } from "./flags.ts";

/** The page in the man macros of roff. */
export function formatManualPage(): string {
  const commands = commandNames.flatMap((name) => {
    const { summary, notes = [], examples } = commandDescriptions[name];
    const shown = examples.map((example) => `.br\n${escapeRoff(`sheaf ${example}`)}\n`);
    return [
      `.TP\n.B ${escapeRoff(`${name} ${commandUsages[name]}`.trim())}\n${[`${summary}.`, ...notes].map(escapeRoff).join("\n")}\n`,
      ...shown,
    ];
  });
  const flagRows = (Object.entries(flags) as [string, Flag][]).map(([name, { aliases = [], placeholder, help }]) => {
    const spelling = [...aliases, `--${name}`].join(", ");
    return `.TP\n.B ${escapeRoff(placeholder ? `${spelling} ${placeholder}` : spelling)}\n${escapeRoff(help)}\n`;
  });
  const codes = Object.entries(errorTable).map(
    ([code, { exitCode, retryable }]) => `.TP\n.B ${exitCode}\n${code}${retryable ? " (may be tried again)" : ""}\n`,
  );
  return [
    `.TH SHEAF 1 "" "sheaf ${escapeRoff(sheafVersion)}"\n`,
    ".SH NAME\nsheaf \\- a coding agent whose answer is a sheaf of typed documents\n",
    ".SH SYNOPSIS\n.B sheaf \\-p\n[flags] PROMPT...\n.br\n.B sheaf\nCOMMAND ...\n",
    `.SH COMMANDS\n${commands.join("")}`,
    `.SH FLAGS\n${flagRows.join("")}`,
    `.SH "EXIT STATUS"\n.TP\n.B 0\nSuccess.\n${codes.join("")}`,
  ].join("");
}

/** Dashes stay dashes when they are copied; a point or a quote at the start of a line is text. */
function escapeRoff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...").replace(/^[.']/, "\\&$&");
}
