import { toResponse } from "@sheaf/documents";
import type { RunEventBody } from "@sheaf/protocol";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { endCutResponse, listOpen } from "../../../src/run/conversations/end-cut-response.ts";
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

test(verifies("R-01", "a response whose message was never stored ends as one of its conversation"), async () => {
  const store = createSqliteStore(":memory:");
  const response = { id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "Hi", createdAt: 1 };
  await store.createResponse(response);
  await store.leaveResponse("chat_a");
  expect(await endCutResponse(store, "chat_a", () => 2)).toBe(true);
  expect(toResponse(await store.readEvents("chat_a"))).toMatchObject({
    id: "chat_a",
    conversationId: "conv_1",
    status: "error",
    documents: [{ type: "error", metadata: { errorCode: "INTERRUPTED" } }],
    metadata: { duration_ms: 0 },
  });
  await store.close();
});
