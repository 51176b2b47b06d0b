import { describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import type { ApprovalQuestion } from "../../../src/tools/approval.ts";
import { createQuestionDesk } from "../../../src/tools/mcp/question-desk.ts";
import type { AskPerson } from "../../../src/tools/tool.ts";

const { signal } = new AbortController();
const form = (message = "Your name?") => ({
  message,
  requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } }, required: ["name"] },
});

/** A call whose person answers so; what they saw. */
function openCall(answer: Partial<Awaited<ReturnType<AskPerson>>>) {
  const asked: ApprovalQuestion[] = [];
  const waits: boolean[] = [];
  const desk = createQuestionDesk("notes");
  const ask: AskPerson = async (question) => {
    asked.push(question);
    return { kind: "allow_once", by: "ann", ...answer };
  };
  const call = desk.open(ask, (isWaiting) => waits.push(isWaiting));
  const answerTo: typeof desk.answer = (...request) => desk.answer(...request);
  return { asked, waits, call, answer: answerTo };
}

describe("a question of a server", () => {
  test(verifies(["C101", "X59"], "names the server, and its answer is what the person wrote"), async () => {
    const { asked, waits, answer } = openCall({ editedArguments: { name: "Ada" } });
    expect(await answer(form(), signal)).toEqual({ action: "accept", content: { name: "Ada" } });
    expect(asked).toMatchObject([
      {
        title: "The MCP server notes asks",
        description: "Your name?",
        subject: {
          type: "server_question",
          server: "notes",
          fields: [{ name: "name", required: true }],
          arguments: {},
        },
        options: [
          { id: "answer", kind: "allow_once" },
          { id: "decline", kind: "reject_once" },
        ],
        rules: [],
      },
    ]);
    expect(waits).toEqual([true, false]);
  });

  test(verifies("C101", "that nobody can answer is declined, and the model learns why"), async () => {
    const desk = createQuestionDesk("notes");
    expect(await desk.answer(form(), signal)).toEqual({ action: "decline" });
    const call = desk.open(undefined, () => undefined);
    expect(await desk.answer(form(), signal)).toEqual({ action: "decline" });
    expect(call.notes).toEqual(["The server asked the user a question, which Sheaf declined: no person can answer."]);
    call.close();
    expect(await desk.answer(form(), signal)).toEqual({ action: "decline" });
  });

  test(verifies(["C101", "S-176"], "is declined, cancelled, or refused where the answer does not fit"), async () => {
    const answerAs = (given: Parameters<typeof openCall>[0]) => openCall(given).answer(form(), signal);
    expect(await answerAs({ kind: "reject_once" })).toEqual({ action: "decline" });
    expect(await answerAs({ kind: "reject_once", by: "timeout" })).toEqual({ action: "cancel" });
    expect(await answerAs({ kind: "reject_once", by: "cancelled" })).toEqual({ action: "cancel" });
    const { answer, call } = openCall({ editedArguments: { name: 7 } });
    expect(await answer(form(), signal)).toEqual({ action: "decline" });
    expect(call.notes.join("")).toContain('"name": a text is expected');
  });

  test(verifies("S-176", "for a secret says who asks; a page is shown with its host and not opened"), async () => {
    const { asked, answer } = openCall({});
    await answer(form("Your password\u202e?"), signal);
    expect(asked[0]?.description).toMatch(/^Your password<U\+202E>\?\n\nThe MCP server notes asks for this, not Sheaf/);
    const page = { mode: "url" as const, message: "Log in", elicitationId: "e1", url: "https://pay.example/x?y=1" };
    expect(await answer(page, signal)).toEqual({ action: "accept" });
    expect(asked[1]).toMatchObject({
      description: expect.stringContaining(
        "a page of pay.example: https://pay.example/x?y=1. Sheaf does not open it.",
      ) as string,
      subject: { url: "https://pay.example/x?y=1", host: "pay.example", fields: [] },
    });
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "https://a:b@c.example/", "x"]) {
      expect(await answer({ ...page, url }, signal), url).toEqual({ action: "decline" });
    }
    expect(asked).toHaveLength(2);
  });

  test(verifies("S-176", "is the last one after ten in a call; a long one is not asked"), async () => {
    const { asked, answer, call } = openCall({ editedArguments: { name: "Ada" } });
    expect(await answer(form("x".repeat(5000)), signal)).toEqual({ action: "decline" });
    const options = Array.from({ length: 100 }, (_, index) => `${index}${"x".repeat(900)}`);
    const long = { type: "object" as const, properties: { a: { type: "string" as const, enum: options } } };
    expect(await answer({ message: "?", requestedSchema: long }, signal)).toEqual({ action: "decline" });
    for (let count = 0; count < 12; count += 1) await answer(form(), signal);
    expect(asked).toHaveLength(8);
    // What the model learns of them has an end, too.
    for (let count = 0; count < 100; count += 1) {
      await answer(
        { message: "?", requestedSchema: { type: "object", properties: { [`a${count}\u0007`]: {} } } } as never,
        signal,
      );
    }
    expect(call.notes).toHaveLength(5);
  });
});
