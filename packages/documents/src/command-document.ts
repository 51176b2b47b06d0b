/** Documents of type terminal_command (R9, N37, N38). */
import type { CommandEffect, TerminalCommandMetadata, ToolResult } from "@sheaf/protocol";
import { pickDefined } from "./pick-defined.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolArguments, toTextArgument } from "./tool-arguments.ts";
import type { ToolDocument, ToolOrigin } from "./tool-document.ts";
import { toAbsolutePath } from "./workspace-path.ts";

/** Live output that is kept for a command whose result never tells its output, in UTF-16 units. */
const maxKeptOutput = 256 * 1024;

type Outcome = Omit<TerminalCommandMetadata, "duration_ms">;

/** Starts when the command is known. */
export function createCommandDocument(writer: StreamWriter, origin: ToolOrigin, workspace: string): ToolDocument {
  let documentId: string | undefined;
  let given: ToolArguments = {};
  let output = "";
  let truncated: true | undefined;

  const toCommand = () => ({
    command: toTextArgument(given, "command"),
    workingDirectory: toAbsolutePath(toTextArgument(given, "working_directory"), workspace),
  });
  const start = () => (documentId ??= writer.startDocument("terminal_command", { ...toCommand(), ...origin }));

  /** The tool tells nothing: it was refused, failed or was cut off. */
  const toUnknownOutcome = (result: ToolResult): Outcome => {
    const succeeded = result.status === "success";
    return {
      ...toCommand(),
      exitCode: succeeded ? 0 : -1,
      output: succeeded ? result.output : output,
      permissions: [],
      ...pickDefined({ truncated }),
    };
  };

  return {
    get documentId() {
      return documentId;
    },
    start,
    setArguments: (event) => {
      if (documentId !== undefined) return;
      given = event.arguments;
      if (event.rawArguments === undefined) start();
    },
    pushOutput: (event) => {
      writer.writeOutput(start(), event);
      if (output.length < maxKeptOutput) output += event.delta;
      else truncated = true;
    },
    end: (result) => {
      const { effect, durationMs } = result;
      const outcome = effect?.kind === "command" ? toOutcome(effect, result) : toUnknownOutcome(result);
      writer.endDocument(start(), { ...outcome, duration_ms: durationMs, ...origin });
    },
  };
}

function toOutcome(effect: CommandEffect, { output, truncated }: ToolResult): Outcome {
  const { command, workingDirectory, exitCode, permissions, signal } = effect;
  return {
    command,
    workingDirectory,
    exitCode,
    output,
    permissions,
    ...pickDefined({
      signal: signal || undefined,
      timedOut: effect.timedOut || undefined,
      truncated,
      background: effect.background || undefined,
      terminalId: effect.terminalId,
      refusals: effect.refusals,
    }),
  };
}
