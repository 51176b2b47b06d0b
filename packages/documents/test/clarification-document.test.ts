import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { toCall, toDocuments, toResult, toRunLog, toTurn } from "./run-log.ts";

const values = {
  title: "Before I go on:",
  questions: [
    { id: "q1", prompt: "JWT or sessions?", options: [{ id: "jwt", label: "JWT" }], allow_multiple: true },
    { id: "q2", prompt: "Why?" },
  ],
};
const questions = [
  { id: "q1", text: "JWT or sessions?", options: [{ id: "jwt", label: "JWT" }], allowMultiple: true },
  { id: "q2", text: "Why?", options: [] },
];
const origin = { toolName: "ask_question", toolCallId: "call_1" };

test(
  verifies(["R11", "N42", "N2"], "a question ends the response as completed, with the questions in a document"),
  () => {
    const asked = questions.map((question) => ({ ...question, allowText: true }));
    const response = toResponse(
      toRunLog([
        ...toTurn(1, toCall("call_1", "ask_question", values, { size: 4 })),
        toResult("call_1", { effect: { kind: "question", title: values.title, questions: asked } }),
        { type: "run_end", reason: "clarification" },
      ]),
    );
    expect(response).toMatchObject({ status: "completed", metadata: { finishReason: "clarification" } });
    expect(response.documents).toEqual([
      {
        id: "doc_001",
        type: "clarification",
        sequence: 1,
        content: "Before I go on:",
        metadata: { questions: asked, ...origin },
      },
    ]);
  },
);

test(verifies(["N44", "N46"], "the questions are told at the start"), () => {
  const events = assemble(toRunLog(toTurn(1, toCall("call_1", "ask_question", values))));
  expect(events.slice(1).map(({ event, data }) => ({ event, data }))).toEqual([
    {
      event: "document_start",
      data: { id: "doc_001", type: "clarification", sequence: 1, metadata: { questions, ...origin } },
    },
    { event: "content_delta", data: { documentId: "doc_001", delta: "Before I go on:" } },
  ]);
});

test(verifies(["N39", "N12"], "a question that could not be asked keeps what the model wrote"), () => {
  const documents = toDocuments([...toCall("call_1", "ask_question", {}), toResult("call_1", { status: "error" })]);
  expect(documents[0]).toMatchObject({ content: "", metadata: { questions: [] } });
  expect(documents[1]).toMatchObject({ type: "error", metadata: { relatedDocumentId: "doc_001" } });
});
