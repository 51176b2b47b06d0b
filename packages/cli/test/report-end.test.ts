/** Exit code and stderr of a run, from the end of its log. */
import type { RunEnd } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { errorTable, type ErrorCode } from "@sheaf/base/errors";
import { reportEnd } from "../src/report-end.ts";
import { formatFailure, reportOutputError } from "../src/report-error.ts";
import { createRunControl } from "../src/signals.ts";
import { stuckReaderCode } from "../src/standard-output.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";
import { cursorDialect } from "../src/dialects/cursor/cursor.ts";
import type { CliDialect } from "../src/dialects/dialect.ts";

let stderr = "";
const writeError = (text: string): void => void (stderr += text);

const failed = (code: string, details = "more"): RunEnd => ({
  type: "run_end",
  reason: "error",
  error: { code, message: `what ${code} says`, details, source: "model", retryable: false },
});
const report = (
  end: RunEnd | undefined,
  {
    signalCode,
    outputError,
    verbose = false,
    dialect = sheafDialect,
  }: {
    signalCode?: number;
    outputError?: NodeJS.ErrnoException;
    verbose?: boolean;
    dialect?: CliDialect;
  } = {},
): readonly [number, string] => {
  stderr = "";
  const code = reportEnd({ session: "s-1", end, outputError }, signalCode, { verbose, io: { dialect, writeError } });
  return [code, stderr];
};

describe("the end of a run", () => {
  test("that is good says nothing", () => {
    expect(report({ type: "run_end", reason: "end_turn" })).toEqual([0, ""]);
  });

  test.each(Object.keys(errorTable) as ErrorCode[])(
    verifies(["C20", "C21"], "%s has its code and one line"),
    (code) => {
      expect(report(failed(code))).toEqual([errorTable[code].exitCode, `sheaf: ${code}: what ${code} says\n`]);
    },
  );

  test("says nothing of questions that are put to a person at once", () => {
    const delivery = {
      session: "s-1",
      end: { type: "run_end", reason: "clarification" },
      outputError: undefined,
    } as const;
    stderr = "";
    expect(
      reportEnd(delivery, undefined, {
        verbose: false,
        io: { dialect: sheafDialect, writeError },
        write: () => undefined,
      }),
    ).toBe(10);
    expect(stderr).toBe("");
  });

  test(verifies(["C14", "C21"], "names the session where stdout does not"), () => {
    stderr = "";
    const options = { verbose: false, io: { dialect: sheafDialect, writeError }, namesSession: true } as const;
    const end = failed("OVERLOADED");
    const delivery = { end, outputError: undefined };
    expect(reportEnd({ session: "s-1", ...delivery }, undefined, options)).toBe(5);
    // Before the first turn there is nothing to continue.
    reportEnd({ session: undefined, ...delivery }, undefined, options);
    const line = "sheaf: OVERLOADED: what OVERLOADED says";
    expect(stderr).toBe(`${line} (session s-1)\n${line}\n`);
  });

  test("with an unknown code is 1; --verbose shows the details", () => {
    expect(report(failed("NEW_ONE"), { verbose: true })).toEqual([1, "sheaf: NEW_ONE: what NEW_ONE says\nmore\n"]);
  });

  test(verifies(["C20", "C21"], "with a question is 10, and says how to answer"), () => {
    const [code, text] = report({ type: "run_end", reason: "clarification" });
    expect(code).toBe(10);
    expect(text).toMatch(/^sheaf: NEEDS_INPUT: .*sheaf answer s-1 .*\n$/);
  });

  test(verifies(["C20", "C23"], "by a signal has the code of the signal"), () => {
    expect(report(failed("CANCELLED"), { signalCode: 143 })[0]).toBe(143);
    expect(report(failed("RATE_LIMITED"), { signalCode: 143 })[0]).toBe(errorTable.RATE_LIMITED.exitCode);
  });

  test(verifies("C30", "by a signal says in the other profile what its clients look for"), () => {
    const [, text] = report(failed("CANCELLED"), { signalCode: 130, dialect: cursorDialect });
    expect(text).toMatch(/^Aborting operation\.\.\.\nsheaf: CANCELLED: /);
  });
});

describe("a stdout that takes no more", () => {
  const toError = (code: string): NodeJS.ErrnoException => Object.assign(new Error("it failed"), { code });

  test(verifies("C23", "is silent for a reader that left, and reported for a full disk"), () => {
    expect(report({ type: "run_end", reason: "end_turn" }, { outputError: toError("EPIPE") })).toEqual([1, ""]);
    const [code, text] = report({ type: "run_end", reason: "end_turn" }, { outputError: toError("ENOSPC") });
    expect([code, text]).toEqual([1, expect.stringMatching(/^sheaf: INTERNAL: .*ENOSPC.*\n$/)]);
    expect(reportOutputError(toError("EPIPE"), true, { writeError })).toBe(1);
  });

  test(verifies("C23", "because its reader is stuck counts as the signal that ended the run"), () => {
    const outputError = toError(stuckReaderCode);
    expect(report(failed("CANCELLED"), { outputError, signalCode: 143 })[0]).toBe(143);
    const [code, text] = report({ type: "run_end", reason: "end_turn" }, { outputError, signalCode: 130 });
    expect([code, text]).toEqual([130, expect.stringMatching(/^sheaf: CANCELLED: .*stdout/)]);
    expect(report(failed("BUDGET_TIME"), { outputError })[0]).toBe(7);
    expect(report({ type: "run_end", reason: "end_turn" }, { outputError })).toEqual([
      7,
      "sheaf: BUDGET_TIME: stdout took nothing until the end of --timeout: read it, or raise --timeout\n",
    ]);
  });
});

describe("a failure", () => {
  test(verifies("C21", "is one visible line, whatever its message holds"), () => {
    const text = formatFailure({ code: "X", message: "a\nb\u001b[2J\u202Ec", details: "d\ne" }, true);
    expect(text.split("\n")).toHaveLength(3);
    for (const hidden of ["\u001b", "\u202E"]) expect(text).not.toContain(hidden);
    expect(formatFailure({ code: "X", message: "a", details: "d" }, false)).toBe("sheaf: X: a\n");
  });
});

describe("signals", () => {
  test(verifies("C23", "the first one cancels the run, with its code; without one there is none"), () => {
    const { signals, exit } = createMemoryPorts();
    const control = createRunControl({ signals, exit });
    expect(control.exitCode).toBeUndefined();
    signals.emit("SIGTERM", "SIGTERM");
    expect(control.exitCode).toBe(143);
    expect(control.signal.reason).toMatchObject({ code: "CANCELLED", details: "signal SIGTERM" });
    control.close();
    expect(signals.listenerCount("SIGTERM")).toBe(0);
  });
});
