/** Documents of type terminal_command (R9, N37, N38). */
import type {
  CommandEffect,
  TerminalCommandMetadata,
  ToolCallArguments,
  ToolCallStart,
  ToolOutputDelta,
  ToolResult,
} from "@sheaf/protocol";
import { toPayloadPieces } from "./payload-limits.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolArguments, toTextArgument } from "./tool-arguments.ts";
import { type ToolDocument, toToolOrigin } from "./tool-document.ts";
import { toAbsolutePath } from "./workspace-path.ts";

/** Starts when the command is known. */
export function createCommandDocument(writer: StreamWriter, call: ToolCallStart, workspace: string): ToolDocument {
  return new CommandDocument(writer, call, workspace);
}

/** Live output that is kept for a command whose result never tells its output, in UTF-16 units. */
const maxKeptOutput = 256 * 1024;

class CommandDocument implements ToolDocument {
  documentId: string | undefined;
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;
  readonly #workspace: string;
  #arguments: ToolArguments = {};
  #output = "";
  #truncated = false;

  constructor(writer: StreamWriter, call: ToolCallStart, workspace: string) {
    this.#writer = writer;
    this.#call = call;
    this.#workspace = workspace;
  }

  setArguments(event: ToolCallArguments): void {
    if (this.documentId !== undefined) return;
    this.#arguments = event.arguments;
    if (event.rawArguments === undefined) this.start();
  }

  start(): string {
    this.documentId ??= this.#writer.startDocument("terminal_command", {
      ...this.#toCommand(),
      ...toToolOrigin(this.#call),
    });
    return this.documentId;
  }

  pushOutput({ stream, delta }: ToolOutputDelta): void {
    const documentId = this.start();
    for (const piece of toPayloadPieces(delta)) {
      this.#writer.write({ event: "output_delta", data: { documentId, stream, delta: piece } });
    }
    if (this.#output.length < maxKeptOutput) this.#output += delta;
    else this.#truncated = true;
  }

  end(result: ToolResult): void {
    const documentId = this.start();
    const outcome =
      result.effect?.kind === "command" ? toOutcome(result.effect, result) : this.#toUnknownOutcome(result);
    const metadata = { ...outcome, duration_ms: result.durationMs, ...toToolOrigin(this.#call) };
    this.#writer.write({ event: "document_end", data: { documentId, metadata } });
  }

  #toCommand(): Pick<TerminalCommandMetadata, "command"> & { readonly workingDirectory: string } {
    return {
      command: toTextArgument(this.#arguments, "command") ?? "",
      workingDirectory: toAbsolutePath(toTextArgument(this.#arguments, "working_directory") ?? "", this.#workspace),
    };
  }

  /** The tool tells nothing: it was refused, failed or was cut off. */
  #toUnknownOutcome(result: ToolResult): Omit<TerminalCommandMetadata, "duration_ms"> {
    return {
      ...this.#toCommand(),
      exitCode: result.status === "success" ? 0 : -1,
      output: result.status === "success" ? result.output : this.#output,
      permissions: [],
      ...(this.#truncated ? { truncated: true } : {}),
    };
  }
}

function toOutcome(effect: CommandEffect, result: ToolResult): Omit<TerminalCommandMetadata, "duration_ms"> {
  const { command, workingDirectory, exitCode, permissions } = effect;
  return {
    command,
    workingDirectory,
    exitCode,
    output: result.output,
    permissions,
    ...(effect.signal === "" ? {} : { signal: effect.signal }),
    ...(effect.timedOut ? { timedOut: true } : {}),
    ...(result.truncated === true ? { truncated: true } : {}),
    ...(effect.background ? { background: true } : {}),
  };
}
