import { expect, test } from "vitest";
import { errorTable } from "../../../base/src/errors.ts";
import { describeFailure } from "../../src/messages/describe-failure.ts";
import { loadMessages } from "../../src/messages/load-messages.ts";
import { english } from "../../src/messages/messages.ts";

test("every code of the closed table has a title, and no other one has", () => {
  expect(Object.keys(english.failures.answer).toSorted()).toEqual(Object.keys(errorTable).toSorted());
});

test("a failure is described in the language of the page; an unknown code too", async () => {
  const german = await loadMessages("de");
  expect(describeFailure("RATE_LIMITED", false, german).title).toBe("Zu viele Anfragen");
  expect(describeFailure("FILE_NOT_FOUND", true, german)).toEqual({
    title: "Datei nicht gefunden; die Antwort ging weiter",
    advice: "",
  });
  for (const code of ["NEW_CODE", "__proto__", "toString"]) {
    expect(describeFailure(code, false, english)).toEqual({ title: english.news.failed, advice: "" });
    expect(describeFailure(code, true, english).title).toBe("A step failed; the answer continued");
  }
});
