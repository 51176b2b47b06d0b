/** What leaves the log has no secrets, in any form (S-256, S-257). */
import { describe, expect, test } from "vitest";
import { assemble } from "@sheaf/documents";
import type { FileChange, RunEvent, RunEventBody } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { createTextMask } from "@sheaf/base/text-mask";
import { findLeak, secretKinds } from "../../../../test/support/secret-kinds.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createAcpProjection } from "../../src/output/acp-updates.ts";
import { createAiSdkUiProjection } from "../../src/output/ai-sdk-ui.ts";
import { createProjection } from "../../src/output/create-projection.ts";
import { createEventMask, maskLog } from "../../src/output/event-mask.ts";
import { formatJsonExport } from "../../src/output/exports/conversation-export.ts";
import { formatMarkdownExport } from "../../src/output/exports/markdown-export.ts";
import { createOpenAiChatProjection } from "../../src/output/openai-chat.ts";
import { createOpenAiResponseProjection } from "../../src/output/openai-responses.ts";
import { outputFormats } from "../../src/output/projection.ts";
import { SpanCollector } from "../../src/output/telemetry/run-spans.ts";
import { createTerminalProjection } from "../../src/output/terminal/terminal.ts";
import { project, runStart, toCall, toDelta, toLog, toTexts, turnEnd } from "./log.ts";

const end: RunEventBody = { type: "run_end", reason: "end_turn" };
const both = { includeThinking: true, locale: "en" } as const;

/** By name: all that anybody gets to read of a log. */
function listOutputs(events: readonly RunEvent[]): Readonly<Record<string, string>> {
  const spans = new SpanCollector({ parent: undefined, capturesContent: true });
  for (const event of events) spans.push(event);
  const conversation = { id: runStart.conversationId, workspace: "/w", title: "", createdAt: 1 };
  const responses = [{ id: runStart.responseId, createdAt: 1, events: maskLog(events) }];
  const acp = createAcpProjection({ withPrompt: true });
  return {
    ...Object.fromEntries(outputFormats.map((name) => [name, project(createProjection(name, both), events).join("")])),
    cursor: project(createProjection("stream-json", { ...both, profile: "cursor-2026" }), events).join(""),
    openAiChat: project(createOpenAiChatProjection(both), events).join(""),
    openAiResponses: project(createOpenAiResponseProjection(), events).join(""),
    aiSdk: project(createAiSdkUiProjection(both), events).join(""),
    terminal: project(createTerminalProjection({ ...both, hasColors: false }), events).join(""),
    acp: JSON.stringify(events.flatMap((event) => acp.push(event))),
    telemetry: JSON.stringify(spans.take().spans),
    markdown: formatMarkdownExport({ conversation, responses }),
    json: formatJsonExport({ sheafExport: 1, conversation, responses }),
  };
}

/** The same text wherever a run may have one. */
function toRun(text: string): RunEvent[] {
  const json = JSON.stringify({ command: `echo '${text}'` });
  const image = { mediaType: "image/png", bytes: 3, sha256: "0", data: "AAAA" } as const;
  const output = { status: "success", output: text, shown: `1|${text}`, note: text } as const;
  const command = { kind: "command", workingDirectory: "/w", exitCode: 0, signal: "", stderr: text } as const;
  const effect = { ...command, command: text, stdout: text, timedOut: false, background: false, permissions: [] };
  return toLog(
    { ...runStart, prompt: text, attachments: [{ ...image, name: `${text}.png` }] },
    { type: "turn_start", turn: 1 },
    { type: "reasoning_delta", text },
    ...toTexts(`It is `, text.slice(0, 12), text.slice(12), ".\n"),
    { type: "tool_call_start", callId: "call_1", toolName: "run_terminal_cmd", documentType: "terminal_command" },
    ...json.split("").map((delta) => ({ type: "tool_call_arguments_delta", callId: "call_1", delta }) as const),
    { type: "tool_call_arguments", callId: "call_1", arguments: JSON.parse(json) as Record<string, unknown> },
    ...text.split("").map(toDelta),
    { type: "tool_result", callId: "call_1", ...output, effect, durationMs: 1 },
    ...toCall("call_2", "read_file", { path: text }, output),
    ...toCall(
      "call_3",
      "mcp__server__tool",
      { items: [text] },
      {
        ...output,
        effect: { kind: "mcp", server: "server", tool: "tool", content: [{ type: "text", text }], isError: false },
        attachments: [{ ...image, name: `${text}.png` }],
      },
    ),
    ...toCall("call_4", "web_fetch", {}, { status: "error", error: { code: "X", message: text, details: text } }),
    { type: "agent_event", callId: "call_5", event: { type: "text_delta", text } },
    turnEnd,
    {
      type: "run_end",
      reason: "error",
      error: { code: "INTERNAL", message: text, source: "agent", details: text, retryable: false },
    },
  );
}

describe("every output", () => {
  test.each(Object.entries(secretKinds))(verifies("S-257", "has no %s"), (_, { text, secret }) => {
    const events = toRun(text).flatMap(createEventMask({ masksEdits: true }));
    for (const [name, output] of Object.entries(listOutputs(events))) {
      expect([name, findLeak(output, secret)]).toEqual([name, ""]);
    }
    expect(verify(assemble(events))).toBeUndefined();
  });

  test(verifies("S-256", "masks a text that comes in two pieces, wherever it is cut"), () => {
    for (const { text, secret } of Object.values(secretKinds)) {
      for (let at = 1; at < text.length; at += 1) {
        const log = toLog(runStart, ...toTexts("see\n", text.slice(0, at), text.slice(at), " there"), turnEnd, end);
        const shown = log.flatMap(createEventMask());
        const words = shown.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
        expect(findLeak(words, secret)).toBe("");
        expect(words.startsWith("see\n") && words.endsWith(" there")).toBe(true);
      }
    }
  });
});

describe("the events", () => {
  const { text, secret } = secretKinds.github!;

  test(verifies("X1", "a reader who comes again gets the same events under the same numbers"), () => {
    const log = toRun(text);
    const whole = log.flatMap(createEventMask());
    const mask = createEventMask();
    expect(log.flatMap(mask)).toEqual(whole);
    // What waits comes with the event that decides: never later than the end of its text, never twice.
    for (const after of log.keys()) {
      const rest = log.flatMap(createEventMask()).filter(({ seq }) => seq > after);
      expect([...whole.filter(({ seq }) => seq <= after), ...rest]).toEqual(whole);
    }
    expect(whole.every((event, index) => index === 0 || event.seq >= whole[index - 1]!.seq)).toBe(true);
  });

  test(verifies("R-40", "a key that a dying process cut is masked in the turn that continues it"), () => {
    const log = toLog(
      runStart,
      { type: "turn_start", turn: 1 },
      ...toTexts(text.slice(0, 12)),
      { ...(turnEnd as Extract<RunEventBody, { type: "turn_end" }>), cut: true },
      { type: "turn_start", turn: 2 },
      ...toTexts(text.slice(12)),
      turnEnd,
      end,
    );
    expect(findLeak(JSON.stringify(log.flatMap(createEventMask())), secret)).toBe("");
  });

  test(verifies("S-257", "file contents of edits and questions to a person stay as they are"), () => {
    const change: FileChange = {
      operation: "create",
      filePath: ".env",
      path: "/w/.env",
      content: text,
      linesAdded: 1,
      linesRemoved: 0,
      bytes: 9,
    };
    const subject = { type: "command", command: text } as const;
    const log = toLog(
      runStart,
      { type: "tool_call_start", callId: "call_1", toolName: "write_file", documentType: "file_edit" },
      { type: "tool_call_arguments_delta", callId: "call_1", delta: JSON.stringify({ content: text }) },
      { type: "tool_call_arguments", callId: "call_1", arguments: { content: text } },
      {
        type: "approval_request",
        callId: "call_1",
        approvalId: "a",
        title: "",
        description: "",
        subject,
        options: [],
        expiresAt: "",
        argumentsHash: "",
        rules: [],
      },
      {
        type: "tool_result",
        callId: "call_1",
        status: "success",
        output: text,
        effect: { kind: "file_edit", changes: [change] },
        durationMs: 1,
      },
      end,
    );
    const kept = log.flatMap(createEventMask({ keepsQuestions: true }));
    expect(kept.slice(0, 5)).toEqual(log.slice(0, 5));
    expect(kept[5]).toMatchObject({ output: "ghp_…[masked]", effect: { changes: [change] } });
    expect(findLeak(JSON.stringify(log.flatMap(createEventMask({ masksEdits: true }))), secret)).toBe("");
  });

  test(verifies("S-256", "a field whose name tells of a secret, and values that the process knows"), () => {
    const args = { api_key: "0a1b2c3d4e5f60718293", name: "0a1b2c3d4e5f60718293", text: "say correct horse" };
    const log = toLog(runStart, ...toCall("call_1", "x", args, {}), end);
    const mask = createTextMask(["correct horse"]);
    expect(log.flatMap(createEventMask({ mask }))[2]).toMatchObject({
      arguments: { api_key: "…[masked]", name: "0a1b2c3d4e5f60718293", text: "say co…[masked] …[masked]" },
    });
  });
});
