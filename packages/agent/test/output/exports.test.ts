/** A conversation as a file for people, and read again from one. */
import type { RunEventBody } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { exportVersion, type ConversationExport } from "../../src/output/exports/conversation-export.ts";
import { decodeExport } from "../../src/output/exports/decode-export.ts";
import { formatMarkdownExport } from "../../src/output/exports/markdown-export.ts";
import { runStart, toCall, toLog, toTexts, turnEnd } from "./log.ts";

const toExport = (title: string, ...bodies: readonly RunEventBody[]): ConversationExport => ({
  sheafExport: exportVersion,
  conversation: { id: runStart.conversationId, workspace: "/w", title, createdAt: 1 },
  responses: [
    {
      id: runStart.responseId,
      createdAt: 1,
      events: toLog(runStart, ...bodies, turnEnd, { type: "run_end", reason: "end_turn" }),
    },
  ],
});
const plain = toExport("A talk", ...toTexts("Hello.\n\n```js\nlet a;\n```\n"));

describe("Markdown", () => {
  test("has prompts as quotes, and documents in order", () => {
    expect(formatMarkdownExport(plain)).toBe(
      "# A talk\n\n## Prompt\n\n> do it\n\n## Answer\n\nHello.\n\n```js\nlet a;\n```\n",
    );
  });

  test(verifies("C240", "has a message that was added to a response at its place"), () => {
    const added: RunEventBody = { type: "user_message", message: "use tabs\nplease" };
    const turn: RunEventBody = { type: "turn_start", turn: 2 };
    expect(formatMarkdownExport(toExport("t", ...toTexts("One."), turnEnd, added, turn, ...toTexts("Two.")))).toBe(
      "# t\n\n## Prompt\n\n> do it\n\n## Answer\n\nOne.\n\n> use tabs\n> please\n\nTwo.\n",
    );
  });

  test("nothing in code closes its fence, and no title is more than a title", () => {
    const text = formatMarkdownExport(
      toExport("# <b>*x*\n## y", ...toCall("call_1", "mcp__a__b", { x: 1 }, { output: "````\n" })),
    );
    expect(text.startsWith("# \\# \\<b\\>\\*x\\* \\#\\# y\n")).toBe(true);
    expect(text).toContain("`````\n````\n`````");
  });

  test(verifies("S-70", "shows control characters in text, code, titles and prompts"), () => {
    const hostile = "\u001B]0;x\u0007\u009B31m\u202E";
    const text = formatMarkdownExport(toExport(hostile, ...toTexts(`${hostile}\n\n~~~js\n${hostile}\n~~~\n`)));
    expect(text.split(/\u241B\\?]0;x\u2407\uFFFD31m\uFFFD/)).toHaveLength(4);
    // oxlint-disable-next-line no-control-regex -- these are the characters that must not pass
    expect(text).not.toMatch(/[\u001B\u0007\u009B\u202E]/);
  });

  test("takes code with any number of backticks", () => {
    const code = "`a".repeat(200_000);
    const text = formatMarkdownExport(toExport("t", ...toTexts(`~~~js\n${code}\n~~~\n`)));
    expect(text.endsWith(`\`\`\`js\n${code}\n\`\`\`\n`)).toBe(true);
  });
});

describe("an export that is read again", () => {
  interface Loose {
    sheafExport: unknown;
    conversation: { id: string };
    responses: unknown[];
  }
  /** The export after a change, and the events of its first response. */
  const change = (edit: (events: Record<string, unknown>[], value: Loose) => void): string => {
    const value = structuredClone(plain) as unknown as Loose;
    edit((value.responses[0] as { events: Record<string, unknown>[] }).events, value);
    return JSON.stringify(value);
  };

  /** The export, marked. */
  const imported = {
    ...plain,
    responses: plain.responses.map(({ events, ...response }) => ({
      ...response,
      events: events.map((event) => (event.type === "run_start" ? { ...event, imported: true } : event)),
    })),
  };

  test(verifies("S-91", "is what was written, marked as imported"), () => {
    expect(decodeExport(JSON.stringify(plain), "a.json")).toEqual(imported);
    expect(decodeExport(JSON.stringify(imported), "a.json")).toEqual(imported);
  });

  test("has no approvals: what was allowed elsewhere is allowed to nobody here", () => {
    const approval = { type: "approval_resolved", approvalId: "appr_1", optionId: "allow_always", by: "user" };
    const text = change((events) => {
      events.splice(1, 0, { ...approval, time: 1 });
      for (const [index, event] of events.entries()) event.seq = index + 1;
    });
    expect(decodeExport(text, "a.json")).toEqual(imported);
  });

  test.each<[string, string, RegExp]>([
    ["no JSON", "{", /a\.json/],
    ["a list", "[]", /a\.json.*the file/],
    ["an object that is none", "{}", /version is missing/],
    ["another version", change((_events, value) => (value.sheafExport = 99)), /99/],
    ["a foreign id", change((_events, { conversation }) => (conversation.id = "conv_1")), /conversation\.id/],
    ["no responses", change((_events, value) => (value.responses = [])), /responses/],
    ["one response twice", change((_events, { responses }) => responses.push(responses[0])), /two responses/],
    ["no events", change((events) => events.splice(0)), /response 1 has no events/],
    ["a gap", change((events) => events.splice(1, 1)), /response 1/],
    ["no end", change((events) => events.pop()), /run_end/],
    ["another's start", change((events) => (events[0]!.responseId = "chat_x")), /run_start/],
    ["an event without a time", change((events) => delete events[1]!.time), /time/],
    ["a relative workspace", change(([start]) => (start!.workspace = "w")), /folders of response 1/],
    ["added folders that are none", change(([start]) => (start!.addedFolders = "/w")), /folders of response 1/],
    [
      "a text that is none",
      change((events) => (events.find(({ type }) => type === "text_delta")!.text = 7)),
      /response 1/,
    ],
    ["a prompt that is none", change(([start]) => (start!.prompt = 7)), /response 1/],
    ["a message that is none", change((events) => (events[1] = { ...events[1], type: "user_message" })), /response 1/],
    ["an event that is none", change((events) => (events[1] = 7 as never)), /response 1/],
  ])("%s is refused", (_, text, message) => {
    expect(() => decodeExport(text, "a.json")).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) as string }),
    );
  });
});
