import type { ApprovalRequestData } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findOption, listCovered, listGroups } from "../../src/approvals/approval-kinds.ts";

function toApproval(
  approvalId: string,
  subject: ApprovalRequestData["subject"],
  rules?: readonly string[],
): ApprovalRequestData {
  const options = [
    { id: "once", label: "Allow once", kind: "allow_once" as const },
    { id: "always", label: "Allow", kind: "allow_always" as const, ...(rules && { rules: [...rules] }) },
  ];
  const expiresAt = "2026-01-01T00:00:00Z";
  return { approvalId, documentId: "doc_001", title: "", description: "", subject, options, expiresAt };
}

const toCommand = (id: string, command: string, rules?: readonly string[]): ApprovalRequestData =>
  toApproval(id, { type: "command", command, workingDirectory: "." }, rules);
const toCall = (id: string, toolName: string): ApprovalRequestData =>
  toApproval(id, { type: "tool_call", toolName, arguments: {} });

test("one button is for open calls of one kind, and for none that hides something", () => {
  const approvals = [
    toCommand("a", "npm test"),
    toCommand("b", "npm run build"),
    toCommand("c", "npm \u202Etest"),
    toCommand("d", "npm <U+202E>test"),
    toCall("e", "docs:search"),
    toCall("f", "docs:delete"),
    toCall("g", "docs:search"),
  ];
  const found = listGroups(approvals).map(({ type, toolName, approvals: group }) => [
    type,
    toolName,
    group.map(({ approvalId }) => approvalId).join(""),
  ]);
  expect(found).toEqual([
    ["command", "", "ab"],
    ["tool_call", "docs:search", "eg"],
  ]);
});

test(verifies("X45", "always covers the open calls that need no other rule, and no call without a rule"), () => {
  const first = toCommand("a", "npm test", ["Shell(npm test)", "Shell(git add)"]);
  const others = [
    toCommand("b", "npm test -- x", ["Shell(npm test)"]),
    toCommand("c", "npm test && make", ["Shell(npm test)", "Shell(make all)"]),
    toCommand("d", "node -e 0", []),
    toCommand("e", "node -e 1"),
  ];
  const toIds = (kind: "allow_once" | "allow_always"): string[] =>
    listCovered(others, findOption(first, kind)!).map(({ approvalId }) => approvalId);
  expect(toIds("allow_always")).toEqual(["b"]);
  expect(toIds("allow_once")).toEqual([]);
  expect(listCovered(others, findOption(toCommand("f", "node -e 2", []), "allow_always")!)).toEqual([]);
});
