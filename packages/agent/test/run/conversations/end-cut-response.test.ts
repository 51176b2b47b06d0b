import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEventBody } from "@sheaf/protocol";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { listOpen } from "../../../src/run/conversations/end-cut-response.ts";
import { openConversation } from "../../../src/run/conversations/open-conversation.ts";
import { readUptime } from "../../../src/store/sqlite-leases.ts";
import { createSqliteStore } from "../../../src/store/sqlite.ts";
import { toBlockId } from "../../../src/tools/tool-state.ts";
import { call, start } from "../fake-ports.ts";

test(
  verifies(["R-01", "S-15"], "lines that a cut call may have put into a file are looked for as if it had told of them"),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "sheaf-cut-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "sheaf.db");
    const known = { id: "h0-1", hypothesis: "h0", filePath: "b.js", path: "/w/b.js" };
    const args = { hypothesis: "h1", target_file: "src/a.js", anchor: "x", code: "y" };
    const bodies: readonly RunEventBody[] = [
      { type: "run_start", ...start, mode: "debug", workspace: "/w", instrumentation: [known] },
      { type: "turn_start", turn: 1 },
      ...call("call_1", "add_instrumentation", args),
    ];
    const { responseId: id, conversationId } = start;
    const first = createSqliteStore(file);
    await first.createResponse({ id, conversationId, workspace: "/w", title: "", createdAt: 1 });
    const events = bodies.map((body, index) => ({ ...body, seq: index + 1, time: 1 }));
    await first.appendEvents(id, events, "synced");
    await first.close();

    // The lease of a writer that says nothing any more runs out.
    const later = Date.now() + 3_600_000;
    const second = createSqliteStore(file, { uptime: () => readUptime() + 3_600_000 });
    const { state } = await openConversation(second, conversationId, () => later);
    await second.close();
    const cut = { id: toBlockId("h1", "call_1"), hypothesis: "h1", filePath: "src/a.js", path: "/w/src/a.js" };
    expect(state.instrumentation).toEqual([known, cut]);
  },
);

test(
  verifies(["X59", "R-01"], "a call whose server asks something has begun; one that waits for permission has not"),
  () => {
    const ask = (callId: string, type: "command" | "server_question"): RunEventBody => ({
      type: "approval_request",
      approvalId: `appr_${callId}`,
      callId,
      title: "",
      description: "",
      subject: { type },
      options: [],
      expiresAt: "2026-01-01T00:00:00Z",
      argumentsHash: "",
      rules: [],
    });
    const bodies = [
      ...call("call_1", "run"),
      ...call("call_2", "mcp"),
      ask("call_1", "command"),
      ask("call_2", "server_question"),
    ];
    const { approvals, unapproved } = listOpen(bodies.map((body, index) => ({ ...body, seq: index + 1, time: 1 })));
    expect([...approvals.values()]).toEqual(["call_1", "call_2"]);
    expect([...unapproved]).toEqual(["call_1"]);
  },
);
