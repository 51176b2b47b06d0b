/** The choice of the output format (C2). */
import { toLocale } from "@sheaf/agent/output/action-words";
import { locales } from "@sheaf/agent/tools/tool-traits";
import { toUserFiles } from "@sheaf/base/paths";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { openProjection } from "@sheaf/agent/assemble/wire";
import type { PartialOutput } from "@sheaf/agent/output/cursor-stream";
import { outputFormats, type OutputFormat, type Projection } from "@sheaf/agent/output/projection";
import { toVisibleJson } from "@sheaf/agent/output/visible-text";
import { chooseWord } from "./command-flags.ts";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Returns the flag's or the dialect's format (C2, C30). @throws SheafError USAGE for an unknown one. */
export function toOutputFormat(flags: FlagValues, { dialect }: Pick<CommandIo, "dialect">): OutputFormat {
  const format = flags["output-format"] ?? dialect.format;
  return chooseWord("--output-format", format, outputFormats);
}

/** Returns the language of `--locale`, or otherwise of the environment (C11). @throws SheafError USAGE for another. */
export function chooseLocale({ locale }: FlagValues, { environment }: CommandIo): ReturnType<typeof toLocale> {
  const { LC_ALL, LC_MESSAGES, LANG } = environment;
  return locale ? chooseWord("--locale", locale, locales) : toLocale(LC_ALL || LC_MESSAGES || LANG || "en");
}

/** Creates the projection for the flags. `showsFailure`: its output is the only place for the run's failure (C31). */
export async function createChosenProjection(
  format: OutputFormat,
  flags: FlagValues,
  io: CommandIo,
  { showsFailure = false }: { readonly showsFailure?: boolean } = {},
): Promise<Projection> {
  const { dialect } = io;
  const options = {
    locale: chooseLocale(flags, io),
    includeThinking: flags["include-thinking"] ?? false,
    profile: dialect.profile,
    partial: flags["stream-partial-output"] && findPartialOutput(io),
    showsFailure,
  };
  const projection = dialect.createLines?.(format, options) ?? (await openProjection(format, options));
  // Text is visible already (C11).
  if (!io.isOutputTerminal || format === "text") return projection;
  return {
    push: (event) => projection.push(event).map(toVisibleJson),
    ...(projection.formatHeartbeat && { formatHeartbeat: (time) => projection.formatHeartbeat!(time) }),
  };
}

/** Returns the setting for clients that need both deltas and segments; most would print the text twice (C44). */
function findPartialOutput({ dialect, environment }: CommandIo): PartialOutput {
  if (dialect.profile !== "cursor-2026") return "deltas";
  return findUserConfig(toUserFiles(environment).config).settings.partialOutput ?? "deltas";
}
