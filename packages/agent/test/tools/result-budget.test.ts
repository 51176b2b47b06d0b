import { describe, expect, onTestFinished, test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolEffect } from "@sheaf/protocol";
import { createTurnBudget, limitResult } from "../../src/tools/result-budget.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import type { ToolReturn } from "../../src/tools/tool.ts";
import type { KeptResults } from "../../src/workspace/kept-results.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { createResults } from "../workspace/results-folder.ts";
import { createContext, createFolder } from "./search-workspace.ts";

const server = { kind: "mcp", server: "s", tool: "t", content: [], isError: false } satisfies ToolEffect;

function show(outcome: Partial<ToolReturn>, budget = createTurnBudget(), results?: KeptResults): string {
  const limited = limitResult({ status: "success", output: "", ...outcome }, budget, results);
  return limited.shown ?? limited.output;
}

const toNumbers = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("one result", () => {
  test(verifies("N56", "that fits is shown as it is"), () => {
    const outcome = { status: "success", output: "short\n", note: "n" } as const;
    expect(limitResult(outcome, createTurnBudget(), undefined)).toEqual(outcome);
  });

  test(verifies(["N56", "N57"], "of a server: beginning and end between two notes, and all of it in a file"), () => {
    const { results, read } = createResults();
    const output = toNumbers(100_000);
    const shown = show({ output, effect: server }, undefined, results);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(30_000);
    const lines = shown.split("\n");
    const [, last = "", from = "", bytes, name = ""] =
      /^\[Lines 1-(\d+) and (\d+)-100000 of 100000 \((\d+) of 1088895 bytes\)\..* in (sheaf-output\/\w+\.txt)/.exec(
        lines[0]!,
      ) ?? [];
    expect(lines.at(-1)).toBe(lines[0]);
    const [head = "", tail = ""] = lines.slice(1, -1).join("\n").split("\n[...]\n");
    expect(head.endsWith(`\nline ${last}`)).toBe(true);
    expect(tail.startsWith(`line ${from}\n`)).toBe(true);
    expect(tail.endsWith("\nline 100000")).toBe(true);
    expect(Number(bytes)).toBe(Buffer.byteLength(head) + Buffer.byteLength(tail) + 2);
    expect(read(name)).toBe(output);
  });

  test(verifies("N56", "of anything else: the beginning"), () => {
    const shown = show({ output: toNumbers(10_000), effect: { kind: "list" } });
    expect(shown).toMatch(/^\[Lines 1-\d+ of 10000 /);
    expect(shown.split("\n").at(-2)).toBe("[...]");
    expect(shown).toContain("The rest was not kept");
  });

  test(verifies("N56", "a long line is cut, and says so"), () => {
    const { results, read } = createResults();
    const shown = show({ output: `a\n${"x".repeat(400_000)}\nb`, effect: server }, undefined, results);
    expect(shown).toContain(`\na\n${"x".repeat(2000)} [... the line continues ...]\n`);
    expect(shown).toMatch(
      /^\[Lines 1-\d+ and 202 of 202 \(\d+ of 400004 bytes\)\. Lines over 2000 characters end early here\./,
    );
    expect(Buffer.byteLength(shown)).toBeLessThan(3000);
    const [name = ""] = /sheaf-output\/\w+\.txt/.exec(shown) ?? [];
    expect(read(name).split("\n")).toHaveLength(202);
    const only = show({ output: "x".repeat(400_000), effect: { kind: "list" } }, undefined, results);
    expect(only).toMatch(/^\[Lines 1-\d+ of 200 /);
    expect(only.split("\n")[1]).toContain("the line continues");
  });

  test(verifies("N57", "of a file that was read: the way to the rest is the file"), () => {
    const { results } = createResults();
    const effect = { kind: "read", path: "/a", isEmpty: false, exceededLimit: true, totalLines: 5000, totalChars: 0, fileSize: 0, startLine: 11, endLine: 5000 } as const; // prettier-ignore
    const note = "Lines 11 to 5000 of 5000.";
    const read = { status: "success", output: toNumbers(4990), effect, note } as const;
    const { shown = "", ...rest } = limitResult(read, createTurnBudget(), results);
    expect(rest).not.toHaveProperty("note");
    const [, last] = /^\[Lines 11-(\d+) of 5000 .* Read on with offset (\d+)\.\]/.exec(shown) ?? [];
    expect(shown).toContain(`offset ${Number(last) + 1}.`);
    expect(shown).toMatch(new RegExp(`(^|\t|\n)line ${Number(last) - 10}\n\\[\\.\\.\\.\\]\n`));
    expect(shown).not.toContain("sheaf-output");
    const one = show(
      { output: "x".repeat(100_000), effect: { ...effect, startLine: 1, totalLines: 1 } },
      undefined,
      results,
    );
    expect(one).toMatch(
      /^\[Lines 1 of 1 \(\d+ of 100002 bytes\)\. Lines over 2000 characters end early here: continue with offset and column\.\]/,
    );
  });

  test(verifies("N58", "of a program is folded, of a file it is not"), () => {
    const output = "\u001b[32m1\r2\u001b[0m\n";
    expect(show({ output, effect: server })).toBe("2\n");
    expect(show({ output, effect: { kind: "list" } })).toBe(output);
  });

  test(verifies("N56", "a long message of an error is cut"), () => {
    const error = { code: "X", message: "m".repeat(9000), details: "" };
    const limited = limitResult({ status: "error", output: "", error }, createTurnBudget(), undefined);
    expect(limited.error!.message.length).toBeLessThan(2100);
  });
});

test(verifies("N56", "the results of a turn share a budget: later ones get less, never nothing"), () => {
  const { results } = createResults();
  const budget = createTurnBudget();
  const sizes = Array.from({ length: 12 }, () =>
    Buffer.byteLength(show({ output: toNumbers(100_000), effect: server }, budget, results)),
  );
  expect(sizes[0]).toBeGreaterThan(29_000);
  expect(sizes.toSorted((one, other) => other - one)).toEqual(sizes);
  expect(sizes.at(-1)).toBeGreaterThan(1000);
  const wide = show({ output: "日".repeat(9000), effect: server }, budget);
  expect(Buffer.byteLength(wide)).toBeLessThanOrEqual(2000);
  expect(wide).toContain("日".repeat(200));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(75_000);
});

test.each([
  [16_000, 14_000],
  [32_000, 28_000],
])(verifies("N56", "in a window of %i tokens they share %i bytes, a quarter of it"), (windowTokens, bytes) => {
  const budget = createTurnBudget(windowTokens);
  const sizes = Array.from({ length: 4 }, () => Buffer.byteLength(show({ output: toNumbers(9000) }, budget)));
  const sum = sizes.reduce((one, other) => one + other, 0);
  expect([sizes[0]! <= bytes / 2, sum > bytes * 0.8, sum <= bytes]).toEqual([true, true, true]);
});

test(verifies("N56", "files count half, so that several can be read at once"), () => {
  const effect = { kind: "read", path: "/a", isEmpty: false, exceededLimit: false, totalLines: 1500, totalChars: 0, fileSize: 0, startLine: 1, endLine: 1500 } as const; // prettier-ignore
  const budget = createTurnBudget();
  const file = toNumbers(800);
  const shown = Array.from({ length: 6 }, () => show({ output: file, effect }, budget));
  expect(shown.filter((text) => !text.includes("line 800\n"))).toEqual([]);
});

describe("a kept result", () => {
  function createTools(root: string) {
    const { results } = createResults();
    const context = createContext(root);
    const tools = createToolBox({ ...context, results, permissions: createPolicy({ force: true }) });
    onTestFinished(async () => void (await tools.settle()));
    const call = (toolName: string, args: Record<string, unknown>) =>
      tools.execute({ callId: "call_1", toolName, arguments: args }, context);
    return { call, results };
  }

  test(verifies("N57", "is opened by read_file and grep_search"), async () => {
    const { call } = createTools(createFolder({ "a.txt": "x" }));
    const printed = await call("run_terminal_cmd", { command: "seq 1 300000; printf '\\033[31mlast\\033[0m'" });
    expect(printed).toMatchObject({ truncated: true, effect: { stdout: expect.stringContaining("\u001b[31mlast") } });
    expect(printed.shown).toMatch(/^\[Lines 1-\d+ and \d+-300001 of 300001 \(\d+ of \d+ bytes\)/);
    const [name = ""] = /sheaf-output\/\w+\.txt/.exec(printed.shown!) ?? [];
    expect(await call("read_file", { target_file: name, offset: 150_000, limit: 2 })).toMatchObject({
      status: "success",
      output: "150000\n150001\n",
    });
    const found = await call("grep_search", { path: name, pattern: "^(299999|last)$" });
    expect(found).toMatchObject({
      status: "success",
      effect: { totalMatches: 2, matches: [{ path: name, lines: [{ line: 299_999 }, { line: 300_001 }] }] },
    });
    const whole = await call("read_file", { target_file: name });
    expect(Buffer.byteLength(whole.shown ?? whole.output)).toBeLessThanOrEqual(30_000);
  });

  test(verifies("N57", "is opened by nothing else, and what is gone says so"), async () => {
    const root = createFolder({ "a.txt": "x" });
    const { call, results } = createTools(root);
    const file = results.create()!;
    file.append(Buffer.from("kept"));
    expect(await call("write_file", { target_file: file.name, content: "mine" })).toMatchObject({ status: "success" });
    expect(readFileSync(join(root, file.name), "utf8")).toBe("mine");
    expect(await call("read_file", { target_file: file.name })).toMatchObject({ output: "kept" });
    expect(await call("list_dir", { target_directory: file.name })).not.toMatchObject({
      status: "success",
      output: "kept",
    });
    expect(await call("read_file", { target_file: "sheaf-output/01234567.txt" })).toMatchObject({
      status: "error",
      error: { code: "FILE_NOT_FOUND", message: expect.stringContaining("not kept any more") },
    });
  });

  test(verifies("N57", "does not hide a file of the workspace with such a name"), async () => {
    const { call } = createTools(createFolder({ "sheaf-output/0123abcd.txt": "of the repository\n" }));
    const path = "sheaf-output/0123abcd.txt";
    expect(await call("read_file", { target_file: path })).toMatchObject({ output: "of the repository\n" });
    const found = await call("grep_search", { path, pattern: "repository" });
    expect(found).toMatchObject({ status: "success", effect: { totalMatches: 1 } });
  });

  test(verifies("N57", "is named in errors as the model names it"), async () => {
    const { call, results } = createTools(createFolder({ "a.txt": "x" }));
    const file = results.create()!;
    file.append(Buffer.from("kept"));
    const failed = await call("grep_search", { path: file.name, pattern: "x", glob: "/etc/*" });
    expect(failed.status).toBe("error");
    expect(failed.error!.message).toContain("sheaf-output");
    expect(JSON.stringify(failed)).not.toContain("sheaf-test-");
  });
});
