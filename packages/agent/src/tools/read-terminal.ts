/** read_terminal: new output of a command in the background, and whether it is still running. */
import type { TerminalEffect } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import type { BackgroundCommand } from "./background-commands.ts";
import type { CommandOutcome } from "@sheaf/sandbox/command";
import { toCancelledOutcome, toFailure } from "./failure.ts";
import type { Tool, ToolReturn } from "./tool.ts";

const maxWaitMs = 600_000;
/** Milliseconds that the end of a command may take. */
const endPeriod = 5000;

const parameters = s.object({
  terminal_id: s.string({ minLength: 1, description: "Such as bg_1" }),
  wait_ms: s.optional(
    s.integer({
      minimum: 1,
      maximum: maxWaitMs,
      description: `Default: none, at most ${maxWaitMs}`,
    }),
  ),
  end: s.optional(s.boolean({ description: "Ends the command first; with wait_ms, lets it end by itself until then" })),
});

/** Reads output. Sheaf itself also calls it, for commands that still run at the end of a run. */
export const readTerminalTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "read_terminal",
  description: "Read new output of a command in the background and see if it still runs, or end it.",
  access: "state",
  comesWith: "Bash",
  aliases: ["bashoutput"],
  parameters,
  async run({ terminal_id, wait_ms = 0, end = false }, { background, signal }) {
    const command = background.all.find(({ id }) => id === terminal_id);
    if (!command) {
      const ids = background.all.map(({ id }) => id).join(", ") || "none";
      const message = `there is no terminal ${JSON.stringify(terminal_id.slice(0, 100))} in this run (known: ${ids})`;
      return toFailure("UNKNOWN_TERMINAL", `${message}: start the command again with run_terminal_cmd`);
    }
    let ended: TerminalEffect["ended"];
    if (end) {
      const reason = wait_ms > 0 ? await command.waitWhileBusy(wait_ms, signal) : "asked";
      if (!command.outcome && !signal.aborted) {
        ended = reason;
        void command.end();
        await command.waitForEnd(endPeriod, signal);
      }
    } else if (wait_ms > 0) await command.waitForNews(wait_ms, signal);
    if (signal.aborted && !command.outcome) return toCancelledOutcome();
    return toTerminalOutcome(command, ended);
  },
};

function toTerminalOutcome(command: BackgroundCommand, ended: TerminalEffect["ended"]): ToolReturn {
  const { outcome } = command;
  const { text, truncated, bytes, whole } = command.takeOutput();
  const effect: TerminalEffect = {
    kind: "terminal",
    terminalId: command.id,
    command: command.command,
    isRunning: outcome === undefined,
    exitCode: outcome ? outcome.exitCode : null,
    ...(ended && { ended }),
  };
  const note = [describeState(outcome), ...(outcome?.refusals ?? [])].join(" ");
  return { status: "success", output: text, effect, note, whole, ...(truncated && { truncated, bytes }) };
}

function describeState(outcome: CommandOutcome | undefined): string {
  if (!outcome) return "It is still running.";
  if (outcome.startError !== "") return `It did not start: ${outcome.startError}.`;
  if (outcome.timedOut) return "Its timeout ended it.";
  if (outcome.cancelled) return "It was ended.";
  return outcome.signal === "" ? `It ended, exit code ${outcome.exitCode}.` : `${outcome.signal} ended it.`;
}
