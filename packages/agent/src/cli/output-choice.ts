/** Which format is printed, and whether anything may be (C1, C2). */
import { SheafError } from "../errors.ts";
import { toLocale } from "../output/action-words.ts";
import { createProjection } from "../output/create-projection.ts";
import { isOutputFormat, outputFormats, type OutputFormat, type Projection } from "../output/projection.ts";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** Print mode: asked for, or inferred because stdout is no terminal or stdin is piped (C1). */
export function isPrintMode(flags: FlagValues, io: CommandIo): boolean {
  return flags.print === true || !io.isOutputTerminal || !io.isInputTerminal;
}

/** @throws SheafError USAGE for an unknown format; the message lists the valid ones (C2). */
export function toOutputFormat(flags: FlagValues): OutputFormat {
  const format = flags["output-format"] ?? "stream-json";
  if (isOutputFormat(format)) return format;
  throw new SheafError("USAGE", `--output-format "${format}" is unknown: use one of ${outputFormats.join(", ")}`);
}

/** The projection that the flags ask for; the language comes from --locale or the environment (C11). */
export function createChosenProjection(format: OutputFormat, flags: FlagValues, io: CommandIo): Projection {
  const { LC_ALL, LC_MESSAGES, LANG } = io.environment;
  return createProjection(format, {
    locale: toLocale(flags.locale || LC_ALL || LC_MESSAGES || LANG || "en"),
    includeThinking: flags["include-thinking"] ?? false,
  });
}
