/** The notices of events, apart from their table, which a page does not load. */
import type { Notice } from "./notices.ts";
import type { RunEventBody, RunStart } from "./run-events.ts";

/** For the many events without any. */
const none: readonly Notice[] = [];

/** Notices of an event. */
export function readNotices(event: RunEventBody): readonly Notice[] {
  const { notice: single, notices: found = none }: Noted = event;
  return single === undefined ? found : [single, ...found];
}

/** What the model lacks because a tool server is not there. */
export function toServerNotices({ mcpServers = [] }: Pick<RunStart, "mcpServers">): readonly Notice[] {
  const missing = mcpServers.filter(({ status }) => status !== "ready");
  return missing.map(({ name, problem = "" }) => ({
    code: "SERVER_NOT_STARTED",
    message: `MCP server ${name}: ${problem}`,
  }));
}

/** The fields of any event that have notices. */
interface Noted {
  readonly type: string;
  readonly notice?: Notice;
  readonly notices?: readonly Notice[];
}
