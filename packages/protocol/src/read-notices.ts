/** Reads the notices of events, apart from their table, which a page doesn't load. */
import type { Notice } from "./notices.ts";
import type { RunEventBody, RunStart } from "./run-events.ts";

/** Shared result for the many events without notices. */
const none: readonly Notice[] = [];

export function readNotices(event: RunEventBody): readonly Notice[] {
  const { notice: single, notices: found = none }: Noted = event;
  return single === undefined ? found : [single, ...found];
}

/** Returns a notice for each tool server that the model lacks. */
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
