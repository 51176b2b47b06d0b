/** Tells a person what a run goes without: MCP servers (S-87), an effort of the model (C36). */
import type { RunStart } from "@sheaf/protocol";
import { formatNotice } from "./report-error.ts";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";

/** One line each on stderr, whatever it is, about what differs from what the caller asked for (C43); `seen` as below. */
export function reportNotices(notices: readonly string[], seen: Set<string>, write: (text: string) => void): void {
  for (const notice of notices) {
    if (!seen.has(notice)) write(formatNotice(notice));
    seen.add(notice);
  }
}

/** One line each on stderr, which must be a terminal (C15); `seen` has those that were told before. */
export interface NoticeReport {
  readonly reportStart: (start: Pick<RunStart, "mcpServers" | "notices">) => void;
  readonly report: (notice: string) => void;
}

export function createNoticeReport(seen: Set<string>, write: (text: string) => void): NoticeReport {
  const report = (notice: string): void => {
    const line = toVisibleLine(`sheaf: ${notice}`);
    if (seen.has(line)) return;
    seen.add(line);
    write(`${line}\n`);
  };
  return {
    report,
    reportStart({ mcpServers = [], notices = [] }) {
      for (const notice of notices) if (!seen.has(notice)) report(notice);
      for (const { name, status, problem = "" } of mcpServers) {
        if (status !== "ready") report(`MCP server ${name}: ${problem}`);
      }
    },
  };
}
