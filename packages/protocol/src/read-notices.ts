/** The notices of events, apart from their table, which a page does not load. */
import type { Notice } from "./notices.ts";
import type { RunEventBody, RunStart } from "./run-events.ts";

/** For the many events without any. */
const none: readonly Notice[] = [];

/** Notices of an event. The log may be older than the codes: a string is a `NOTE`. */
export function readNotices(event: RunEventBody): readonly Notice[] {
  const { notice: single, notices: found = none }: Noted = event;
  const all = single === undefined ? found : [single, ...found];
  return all === none
    ? none
    : all.map((given) => (typeof given === "string" ? { code: "NOTE", message: given } : given));
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
  readonly notice?: Notice | string;
  readonly notices?: readonly (Notice | string)[];
}
