/** The port of every output format. */
import type { RunEvent } from "@sheaf/protocol";

/** A format: a pure function of the log, event by event. */
export interface Projection {
  /** Returns the lines for this event, each with its `\n`; each is one write (C4). */
  push(event: RunEvent): readonly string[];
  /** Returns a line of a run that continues, for formats that have such lines (C26). Milliseconds since 1970. */
  formatHeartbeat?(time: number): string;
}

/** Values of `--output-format` (C2). */
export const outputFormats = ["text", "json", "stream-json", "documents", "documents-stream"] as const;

export type OutputFormat = (typeof outputFormats)[number];

export function isOutputFormat(value: string): value is OutputFormat {
  return (outputFormats as readonly string[]).includes(value);
}

/** The program whose habits the output has (C30): `sheaf` (sections 1 and 2), or `cursor-agent` (`cursor-2026`). */
export type CliProfile = "sheaf" | "cursor-2026";

export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
