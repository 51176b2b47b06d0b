/** Makes documents of type terminal_command (R9, N37, N38). */
import type { CommandEffect, PartialMetadata, ToolResult } from "@sheaf/protocol";
import { toTextArgument } from "./tool-arguments.ts";
import type { ToolCall, ToolDocument } from "./tool-document.ts";
import { toAbsolutePath } from "./workspace-path.ts";

/** UTF-16 units of live output to store for a command whose result has no output. */
const maxKeptOutput = 256 * 1024;

/** Starts the document once the command is known. */
export function createCommandDocument(call: ToolCall): ToolDocument {
  let output = "";
  let truncated: true | undefined;

  const toCommand = () => ({
    command: toTextArgument(call.arguments, "command"),
    workingDirectory: toAbsolutePath(toTextArgument(call.arguments, "working_directory"), call.workspace),
  });

  /** Returns the outcome of a tool without an effect: refused, failed or cut off. */
  const toUnknownOutcome = (result: ToolResult): PartialMetadata => {
    const known = result.status === "success" ? { exitCode: 0, output: result.output } : { exitCode: -1, output };
    return { ...toCommand(), ...known, permissions: [], truncated };
  };

  return {
    open: () => call.start(toCommand()),
    takeArguments: () => {
      call.open();
    },
    pushOutput: (event) => {
      call.writer.writeOutput(call.open().id, event);
      if (output.length < maxKeptOutput) output += event.delta;
      else truncated = true;
    },
    end: (result) => {
      const { effect, durationMs } = result;
      const outcome = effect?.kind === "command" ? toOutcome(effect, result) : toUnknownOutcome(result);
      call.end({ ...outcome, duration_ms: durationMs }, null);
    },
  };
}

function toOutcome(effect: CommandEffect, { output, truncated }: ToolResult): PartialMetadata {
  const { command, workingDirectory, exitCode, permissions, terminalId, refusals } = effect;
  return {
    command,
    workingDirectory,
    exitCode,
    output,
    permissions,
    signal: effect.signal || undefined,
    timedOut: effect.timedOut || undefined,
    truncated,
    background: effect.background || undefined,
    terminalId,
    refusals,
  };
}
