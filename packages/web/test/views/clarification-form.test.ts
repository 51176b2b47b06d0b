import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  chooseOption,
  chooseText,
  emptyEntry,
  isAnswered,
  readQuestions,
  toAnswers,
  toDraft,
  toMessage,
  writeText,
} from "../../src/views/clarification-form.ts";

const options = [
  { id: "a", label: "A" },
  { id: "b", label: "B" },
];
const [single, several, free] = readQuestions({
  questions: [
    { id: "q1", text: "Which?", options, allowText: true },
    { id: "q2", text: "Which ones?", options, allowMultiple: true, allowText: true },
    { id: "q3", text: "Why?", options: [] },
  ],
}) as [AskedQuestion, AskedQuestion, AskedQuestion];
type AskedQuestion = ReturnType<typeof readQuestions>[number];
const questions = [single, several, free];

describe("the form of a clarification", () => {
  test(verifies("N73", "any part of the questions may be answered; the rest is sent as skipped"), () => {
    const draft = { q2: chooseOption(several, emptyEntry, "b", true) };
    expect(toAnswers("doc_002", questions, draft)).toEqual([
      { documentId: "doc_002", questionId: "q1", optionIds: [], text: "" },
      { documentId: "doc_002", questionId: "q2", optionIds: ["b"], text: "" },
      { documentId: "doc_002", questionId: "q3", optionIds: [], text: "" },
    ]);
    expect(toMessage(questions, draft, "(skipped)")).toBe("Which? (skipped)\nWhich ones? B\nWhy? (skipped)");
  });

  test("in a single choice, the last one counts: an option or the text, which stays in its field", () => {
    const chosen = chooseOption(single, emptyEntry, "a", true);
    const written = writeText(single, chosen, "C");
    expect(toAnswers("doc_002", [single], { q1: written })[0]).toMatchObject({ optionIds: [], text: "C" });
    const again = chooseOption(single, written, "b", true);
    expect(again.text).toBe("C");
    expect(toAnswers("doc_002", [single], { q1: again })[0]).toMatchObject({ optionIds: ["b"], text: "" });
  });

  test("in a choice of several, options and text go together", () => {
    const both = writeText(
      several,
      chooseOption(several, chooseOption(several, emptyEntry, "a", true), "b", true),
      "C",
    );
    expect(toMessage([several], { q2: both }, "-")).toBe("A, B, C");
    expect(toAnswers("doc_002", [several], { q2: chooseText(several, both, false) })[0]).toMatchObject({
      optionIds: ["a", "b"],
      text: "",
    });
  });

  test("blanks are no answer", () => {
    expect(isAnswered(writeText(free, emptyEntry, "  "))).toBe(false);
    expect(isAnswered(writeText(single, emptyEntry, "  "))).toBe(false);
    expect(isAnswered(undefined)).toBe(false);
  });

  test("what was sent comes back as it was", () => {
    const draft = { q1: writeText(single, emptyEntry, "C"), q3: writeText(free, emptyEntry, "So.") };
    const sent = toAnswers("doc_002", questions, draft);
    expect(toDraft(sent, "doc_002")).toMatchObject(draft);
    expect(toDraft(sent, "doc_003")).toEqual({});
  });
});
