import type { RunEventBody } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { listOpen } from "../../../src/run/conversations/end-cut-response.ts";
import { call } from "../fake-ports.ts";

test(verifies(["X59", "R-01"], "a call whose server asks has begun; one that waits for permission has not"), () => {
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
});
