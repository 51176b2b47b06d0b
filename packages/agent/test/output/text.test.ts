import type { RunEventBody } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { toLocale } from "../../src/output/action-words.ts";
import { createTextProjection } from "../../src/output/text.ts";
import type { Locale } from "../../src/tools/tool-traits.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { project, runStart, toCall, toLog, toTexts, turnEnd } from "./log.ts";

const runEnd: RunEventBody = { type: "run_end", reason: "end_turn" };
const print = (locale: Locale, ...bodies: readonly RunEventBody[]) =>
  project(createTextProjection({ locale }), toLog(runStart, ...bodies)).join("");

const change = { filePath: "a", path: "/w/a", content: "", linesAdded: 0, linesRemoved: 0, bytes: 0 } as const;
const fourActions = [
  ...toCall("call_1", "read_file", {}, {}),
  ...toCall("call_2", "edit_file", {}, { effect: { kind: "file_edit", changes: [{ ...change, operation: "edit" }] } }),
  ...toCall("call_3", "run_terminal_cmd", {}, {}),
  ...toCall(
    "call_4",
    "write_file",
    {},
    { effect: { kind: "file_edit", changes: [{ ...change, operation: "create" }] } },
  ),
];

test(verifies("C11", "an answer that fits --output-schema is its JSON alone"), () => {
  const start = { ...runStart, hasSchema: true } as const;
  const attempt = [...fourActions, ...toTexts('{"a":"1"}'), turnEnd, ...toTexts('So: ```json\n{"a":1}\n```'), turnEnd];
  const log = toLog(start, ...attempt, { type: "run_end", reason: "end_turn", output: { a: 1, b: "\u202e" } });
  expect(project(createTextProjection({ locale: "en" }), log).join("")).toBe('{"a":1,"b":"\\u202e"}\n');
});

describe("action lines", () => {
  test.each([
    ["en", "Read file\nEdited file\nRan terminal command\nCreated new file\n"],
    ["de", "Datei gelesen\nDatei bearbeitet\nTerminal-Befehl ausgeführt\nNeue Datei erstellt\n"],
    ["tr", "Dosya okundu\nDosya düzenlendi\nTerminal komutu çalıştırıldı\nYeni dosya oluşturuldu\n"],
  ] as const)(verifies("C11", "the words of %s"), (locale, words) => {
    expect(print(locale, ...fourActions, ...toTexts("Done."), turnEnd, runEnd)).toBe(`${words}\nDone.\n`);
  });

  test.each(["ja", "zh-TW"] as const)(verifies("C11", "%s has its own words for every action"), (locale) => {
    const printed = print(locale, ...fourActions, ...toTexts("Done."), turnEnd, runEnd).split("\n");
    const english = print("en", ...fourActions, ...toTexts("Done."), turnEnd, runEnd).split("\n");
    expect(printed).toHaveLength(english.length);
    for (let index = 0; index < 4; index += 1) expect(printed[index]).not.toBe(english[index]);
  });

  test(verifies("C11", "each comes when its action is done, one line each"), () => {
    const projection = createTextProjection({ locale: "en" });
    const printed = toLog(runStart, ...fourActions).map((event) => projection.push(event).length);
    expect(printed).toEqual([0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
  });

  test("a write onto a file that was there is an edit", () => {
    const effect = { kind: "file_edit", changes: [{ ...change, operation: "edit" }] } as const;
    expect(print("en", ...toCall("call_1", "write_file", {}, { effect }))).toBe("Edited file\n");
  });

  test("a failure and a refusal say why, in one line", () => {
    const error = { code: "X", message: "no\nway", details: "" };
    expect(print("en", ...toCall("call_1", "read_file", {}, { status: "error", error }))).toBe(
      "Read file: failed (no way)\n",
    );
    expect(print("de", ...toCall("call_1", "run_terminal_cmd", {}, { status: "rejected", error }))).toBe(
      "Terminal-Befehl ausgeführt: abgelehnt (no way)\n",
    );
  });
});

describe("the message", () => {
  test(verifies(["C11", "C30"], "is all that was said; in the cursor profile, the text after the last call"), () => {
    const call = toCall("call_1", "read_file", {}, {});
    const events = [...toTexts("I read. "), ...call, ...toTexts("\nAll ", "done."), turnEnd, runEnd];
    expect(print("en", ...events)).toBe("Read file\n\nI read.\n\nAll done.\n");
    const final = createTextProjection({ locale: "en", showsActions: false });
    expect(project(final, toLog(runStart, ...events)).join("")).toBe("All done.\n");
  });

  test("is the whole text when the run ends with a tool call, and is alone without actions", () => {
    const call = toCall("call_1", "read_file", {}, {});
    expect(print("en", ...toTexts("I read it."), ...call, turnEnd, runEnd)).toBe("Read file\n\nI read it.\n");
    expect(print("en", ...toTexts("Hello."), turnEnd, runEnd)).toBe("Hello.\n");
  });

  test("of a failed run is not printed", () => {
    const error = { code: "OVERLOADED", message: "m", source: "provider", details: "", retryable: true };
    expect(print("en", ...toTexts("half"), turnEnd, { type: "run_end", reason: "error", error })).toBe("");
  });

  test(verifies("C25", "questions are printed with their options"), () => {
    const effect = {
      kind: "question",
      title: "Before I go on",
      questions: [{ id: "q1", text: "Which?", options: [{ id: "a", label: "A" }] }],
    } as const;
    const printed = print("en", ...toCall("call_1", "ask_question", {}, { effect }), turnEnd, {
      type: "run_end",
      reason: "clarification",
    });
    expect(printed).toBe("Asked a question\n\nBefore I go on\n\nq1: Which?\n  a) A\n");
  });
});

describe("a terminal", () => {
  test(verifies(["C11", "S-70"], "never gets a control character of content"), () => {
    const hostile = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("") + "\u202E\u2066";
    const error = { code: "X", message: hostile, details: "" };
    const call = toCall("call_1", "bad\u001b[2Jtool", {}, { status: "error", error });
    const printed = print("en", ...call, ...toTexts(`a${hostile}b`), turnEnd, runEnd);
    // oxlint-disable-next-line no-control-regex -- the characters that must not be there
    expect(printed.match(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g)).toBeNull();
    expect(printed).toContain("␛");
  });
});

test.each([
  ["de_DE.UTF-8", "de"],
  ["de", "de"],
  ["tr_TR", "tr"],
  ["ja_JP.eucJP", "ja"],
  ["zh_TW.UTF-8", "zh-TW"],
  ["zh-Hant", "zh-TW"],
  ["zh-TW", "zh-TW"],
  ["zh_CN.UTF-8", "en"],
  ["C.UTF-8", "en"],
  ["POSIX", "en"],
  ["", "en"],
  ["fr_FR", "en"],
] as const)(verifies("C11", "locale %s is %s"), (value, locale) => {
  expect(toLocale(value)).toBe(locale);
});

test(verifies(["C22", "S-31"], "an answer without its commands is printed like any other"), () => {
  const error = { code: "SANDBOX_UNAVAILABLE", message: "m", source: "sandbox", details: "", retryable: false };
  const log = toLog(runStart, ...toTexts("Whole."), turnEnd, { type: "run_end", reason: "error", error });
  expect(project(createTextProjection({ locale: "en" }), log).join("")).toBe("Whole.\n");
  const shown = createTextProjection({ locale: "en", showsFailure: true });
  expect(project(shown, log).join("")).toBe("Whole.\nsheaf: SANDBOX_UNAVAILABLE: m\n");
});
