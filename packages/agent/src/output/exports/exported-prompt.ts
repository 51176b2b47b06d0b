/** What the user said in a response. */
import type { RunEvent } from "@sheaf/protocol";

export function toPrompt(events: readonly RunEvent[]): string {
  const [start] = events;
  return start?.type === "run_start" ? start.prompt : "";
}
