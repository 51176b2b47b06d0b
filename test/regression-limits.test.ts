/** The limits of `npm run bench -- NAME --strict`, read from docs/performance.md. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findRegressions, parseLimits, replaceLimits } from "../bench/support/limits.ts";

const text = `# Performance

| bench | figure | floor | Sheaf | multiple of the floor |
|---|---|---|---|---|
| startup | one answer | 40 ms | 80 ms | 2.00 |
| startup | peak memory | 50 MB | 60 MB | 1.20 |
| agent | a turn | 3.0 ms | 9.0 ms | 3.00 |

After it.
`;

const oneAnswer = { name: "one answer", unit: "ms", floor: 40, sheaf: 100 };
const peakMemory = { name: "peak memory", unit: "MB", floor: 50, sheaf: 60 };

describe("the table of regression limits", () => {
  test("gives a limit for each row", () => {
    expect(parseLimits(text)[2]).toEqual({ bench: "agent", figure: "a turn", multiple: 3 });
    expect(parseLimits(text)).toHaveLength(3);
  });

  test("is refused when it is missing or a row has no multiple", () => {
    expect(() => parseLimits("# Performance\n")).toThrow(/has no table with the columns bench, figure/);
    expect(() => parseLimits(text.replace("3.00", "three"))).toThrow(/does not end with a multiple of the floor/);
  });

  test("has rows of every bench that exists, and of no other", () => {
    const root = join(import.meta.dirname, "..");
    const limits = parseLimits(readFileSync(join(root, "docs/performance.md"), "utf8"));
    const names = globSync("*.ts", { cwd: join(root, "bench") }).map((name) => name.replace(".ts", ""));
    expect([...new Set(limits.map(({ bench }) => bench))].toSorted()).toEqual(
      names.filter((name) => name !== "run").toSorted(),
    );
  });

  test("takes new rows in the place of the old ones of the same bench", () => {
    const updated = replaceLimits(text, "startup", [oneAnswer]);
    expect(updated).toBe(
      text
        .replace("| 80 ms | 2.00 |", "| 100 ms | 2.50 |")
        .replace("| startup | peak memory | 50 MB | 60 MB | 1.20 |\n", ""),
    );
    expect(replaceLimits(text, "page", [peakMemory])).toContain(
      "3.00 |\n| page | peak memory | 50 MB | 60 MB | 1.20 |\n\nAfter",
    );
  });
});

describe("a figure", () => {
  const limits = parseLimits(text);

  test("may be 25 % worse than its row", () => {
    expect(findRegressions(limits, "startup", [oneAnswer, peakMemory])).toEqual([]);
  });

  test("fails beyond that, with its limit, what was measured, and what to do", () => {
    expect(findRegressions(limits, "startup", [{ ...oneAnswer, sheaf: 101 }, peakMemory])).toEqual([
      'startup: "one answer": measured 2.52 times the floor (101 ms, floor 40 ms), limit 2.50 (25 % over the 2.00 of docs/performance.md): find what made it slower, or run "npm run bench -- startup --update" and give the reason in the commit',
    ]);
  });

  test("fails without a row, and a row without a figure", () => {
    expect(findRegressions(limits, "startup", [oneAnswer, { ...peakMemory, name: "new" }])).toEqual([
      expect.stringMatching(/^startup: "peak memory" is in .* but was not measured: run "npm run bench/),
      expect.stringMatching(/^startup: "new" has no limit in .*: run "npm run bench/),
    ]);
  });

  test("that cannot be measured is no pass", () => {
    expect(findRegressions(limits, "agent", [{ name: "a turn", unit: "ms", floor: 0, sheaf: 0 }])).toHaveLength(1);
  });
});
