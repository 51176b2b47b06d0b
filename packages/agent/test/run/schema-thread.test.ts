/** The thread that applies schemas of users. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { testDeep } from "../../../../test/support/describe-where.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";
import { createSchemaThread, type SchemaThread } from "../../src/run/schema-thread.ts";

const open: SchemaThread[] = [];
afterEach(() => {
  for (const thread of open.splice(0)) thread.close();
});

function start(signal = new AbortController().signal): SchemaThread {
  const thread = createSchemaThread(signal);
  open.push(thread);
  return thread;
}

const endless = { schema: JSON.stringify({ pattern: "^(a+)+$" }), value: [`${"a".repeat(40)}!`] } as const;
const number = JSON.stringify({ type: "number" });

testDeep(
  verifies("S-89", "values that wait are checked after one that took too long, and one fault is not told of another"),
  async () => {
    const thread = start();
    // Many faults take long too, and no pattern is to blame.
    const slow = {
      schema: JSON.stringify({ items: { items: { type: "string" } } }),
      value: [Array(300).fill(Array(10_000).fill(1))],
    } as const;
    const verdicts = await Promise.all([
      thread.apply({ schema: number, value: [1] }),
      thread.apply(endless),
      thread.apply({ schema: number, value: ["1"] }),
      thread.apply(slow),
      thread.apply({ schema: number }),
    ]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(["fits", "unusable", "misfit", expect.anything(), "fits"]);
    expect(verdicts[1]).toMatchObject({ problem: expect.stringContaining('"^(a+)+$"') as string });
    expect(JSON.stringify(verdicts[3])).not.toContain("a+");
  },
);

test(verifies("S-89", "an abort ends what runs and what waits"), async () => {
  const controller = new AbortController();
  const thread = start(controller.signal);
  await thread.apply({ schema: number });
  const verdicts = Promise.all([thread.apply(endless), thread.apply(endless)]);
  controller.abort();
  const ended = { kind: "unusable", problem: "was not applied: the run has ended" };
  expect(await verdicts).toEqual([ended, ended]);
});

test(verifies(["S-89", "S-71"], "memory is bounded, and what cannot be passed on does not fit"), async () => {
  const thread = start();
  const branches = Array.from({ length: 24 }, (_, index) => [
    `d${index}`,
    { anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
  ]);
  const schema = JSON.stringify({
    $ref: "#/$defs/d0",
    $defs: { ...Object.fromEntries(branches), d24: { type: "string" } },
  });
  expect((await thread.apply({ schema, value: [1] })).kind).toBe("unusable");
  const deep: unknown[] = [];
  for (let inner = deep, depth = 0; depth < 100_000; depth += 1) inner.push((inner = []));
  expect(await thread.apply({ schema: "{}", value: [deep] })).toEqual({
    kind: "misfit",
    faults: "the value is nested too deeply",
  });
  expect((await thread.apply({ schema: number, value: [1] })).kind).toBe("fits");
});

test(
  verifies("S-224", "it loads no file that the user's options for Node name: a command may have changed it"),
  async () => {
    const folder = createTemporaryFolder();
    const [file, canary] = [join(folder, "preload.cjs"), join(folder, "canary")];
    writeFileSync(file, `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "loaded");`);
    vi.stubEnv("NODE_OPTIONS", `--require ${file}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await start().apply({ schema: number, value: [1] })).toEqual({ kind: "fits" });
    expect(existsSync(canary)).toBe(false);
  },
);
