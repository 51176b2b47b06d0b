import type { CommandEffect, RunEventBody } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

const effect: CommandEffect = {
  kind: "command",
  command: "npm test",
  workingDirectory: "/w/web",
  exitCode: 0,
  signal: "",
  stdout: "",
  stderr: "",
  timedOut: false,
  background: false,
  permissions: [],
};

const call = toCall("call_1", "run_terminal_cmd", { command: "npm test", working_directory: "web" });
const origin = { toolName: "run_terminal_cmd", toolCallId: "call_1" };

function output(stream: "stdout" | "stderr", delta: string): RunEventBody {
  return { type: "tool_output_delta", callId: "call_1", stream, delta };
}

test(
  verifies(
    ["R9", "N37", "N38", "N44", "X6"],
    "starts when the command is known, shows its output live, ends with everything",
  ),
  () => {
    const log = toRunLog([
      ...toTurn(1, call),
      output("stdout", "ok\n"),
      output("stderr", "warning\n"),
      toResult("call_1", {
        output: "ok\nwarning\n",
        durationMs: 1200,
        effect: { ...effect, permissions: ["network"] },
      }),
      endTurn,
    ]);
    const documentId = "doc_001";
    const known = { command: "npm test", workingDirectory: "/w/web" };
    const metadata = {
      ...known,
      exitCode: 0,
      output: "ok\nwarning\n",
      duration_ms: 1200,
      permissions: ["network"],
      ...origin,
    };
    expect(
      assemble(log)
        .slice(1, -1)
        .map(({ event, data }) => ({ event, data })),
    ).toEqual([
      {
        event: "document_start",
        data: { id: documentId, type: "terminal_command", sequence: 1, metadata: { ...known, ...origin } },
      },
      { event: "output_delta", data: { documentId, stream: "stdout", delta: "ok\n" } },
      { event: "output_delta", data: { documentId, stream: "stderr", delta: "warning\n" } },
      { event: "document_end", data: { documentId, metadata } },
    ]);
    expect(toResponse(log).documents[0]).toEqual({
      id: documentId,
      type: "terminal_command",
      sequence: 1,
      content: null,
      metadata,
    });
  },
);

test(verifies("N37", "an open document shows the output so far and no exit code"), () => {
  const [document] = toResponse(toRunLog([...toTurn(1, call), output("stdout", "a"), output("stderr", "b")])).documents;
  expect(document).toMatchObject({ status: "in_progress", metadata: { output: "ab" } });
  expect(document?.metadata).not.toHaveProperty("exitCode");
});

test(verifies(["N37", "N39"], "an exit code other than 0 is no error document"), () => {
  const documents = toDocuments([...call, toResult("call_1", { effect: { ...effect, exitCode: 2 } })]);
  expect(documents).toHaveLength(1);
  expect(documents[0]?.metadata).toMatchObject({ exitCode: 2 });
});

test(verifies("N37", "signals, timeouts, cut output and background runs are told"), () => {
  const killed = { ...effect, exitCode: 124, signal: "SIGTERM", timedOut: true, background: true };
  const [document] = toDocuments([...call, toResult("call_1", { truncated: true, effect: killed })]);
  expect(document?.metadata).toMatchObject({
    exitCode: 124,
    signal: "SIGTERM",
    timedOut: true,
    truncated: true,
    background: true,
  });
});

test(verifies(["N36", "N37", "N39"], "a refused command never started: -1, no output, and an error document"), () => {
  const error = { code: "PERMISSION_DENIED", message: "rm is not allowed", details: "" };
  const [document, failure] = toDocuments([
    ...call,
    toResult("call_1", { status: "rejected", output: "refused", error }),
  ]);
  expect(document?.metadata).toEqual({
    command: "npm test",
    workingDirectory: "/w/web",
    exitCode: -1,
    output: "",
    permissions: [],
    duration_ms: 5,
    ...origin,
  });
  expect(failure).toMatchObject({
    type: "error",
    content: "rm is not allowed",
    metadata: { source: "run_terminal_cmd", relatedDocumentId: "doc_001" },
  });
});

test(verifies("N52", "a command that was cut off keeps the output that was seen"), () => {
  const log = toRunLog([...toTurn(1, call), output("stdout", "half"), { type: "run_end", reason: "cancelled" }]);
  expect(toResponse(log).documents[0]?.metadata).toMatchObject({ exitCode: -1, output: "half" });
});

test("a very long output that no result tells is cut", () => {
  const long = Array.from({ length: 5 }, () => output("stdout", "x".repeat(100_000)));
  const log = toRunLog([...toTurn(1, call), ...long, { type: "run_end", reason: "cancelled" }]);
  expect(toResponse(log).documents[0]?.metadata).toMatchObject({ truncated: true, output: "x".repeat(300_000) });
});

test(verifies("N12", "without a command it is an empty string, never null"), () => {
  const documents = toDocuments([
    { type: "tool_call_start", callId: "call_1", toolName: "run_terminal_cmd", documentType: "terminal_command" },
    { type: "tool_call_arguments", callId: "call_1", arguments: {}, rawArguments: "{" },
    toResult("call_1", { status: "error" }),
  ]);
  expect(documents[0]?.metadata).toMatchObject({ command: "", workingDirectory: "/w", exitCode: -1 });
});

test(verifies("N10", "a call that was cancelled before its command was known leaves no document"), () => {
  const documents = toDocuments([...call.slice(0, 1), toResult("call_1", { status: "cancelled" })]);
  expect(documents).toEqual([]);
});
