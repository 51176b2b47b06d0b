import { expect, test } from "vitest";
import { emptyDraft, isSendable, toMessageText } from "../../src/composer/draft.ts";

test.each([
  ["Read it", [], "Read it"],
  [" Read it \n", ["src/a.ts"], "Read it\n\n@src/a.ts"],
  ["Read", ["a b.md", "c.md"], 'Read\n\n@"a b.md" @c.md'],
  ["", ["a.md"], "@a.md"],
])("%j with %j is sent as %j", (text, paths, message) => {
  const draft = { ...emptyDraft, text, paths };
  expect(isSendable(draft)).toBe(true);
  expect(toMessageText(draft)).toBe(message);
});

test("an image alone is sent, without text", () => {
  const blob = new Blob([]);
  const draft = { ...emptyDraft, files: [{ name: "a.png", mediaType: "image/png", blob, data: "" }] };
  expect(isSendable(draft)).toBe(true);
  expect(toMessageText(draft)).toBe("");
});

test("blanks alone are not sent", () => {
  expect(isSendable({ ...emptyDraft, text: " \n " })).toBe(false);
});
