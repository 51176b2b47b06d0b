/** `sheaf usage` over real runs, as a user sees it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

test(verifies("C170", "labels are in the result and in usage, and a day's cost ends later runs"), async () => {
  const [home, cwd] = [folders.newFolder(), folders.newFolder()];
  const script = join(cwd, "script.json");
  const usage = { promptTokens: 500_000, completionTokens: 0 };
  writeFileSync(script, JSON.stringify({ turns: [{ events: [{ text: "Done." }], usage }], after: "repeat_last" }));
  const prices = { [`scripted:${script}`]: { input: 2, output: 2 } };
  writeFileSync(join(home, "config.json"), JSON.stringify({ prices }));
  const run = async (...args: string[]) => {
    const { code, stdout } = await runSheaf(["-p", "--model", `scripted:${script}`, ...args, "go"], { cwd, home });
    return [code, parseStream(stdout).at(-1)] as const;
  };
  const team = ["--label", "team=a b", "--max-cost-usd-per-day", "1.5"];
  const labels = { team: "a b", job: "x" };
  expect(await run(...team, "--label", "job=x")).toMatchObject([0, { labels }]);
  expect(await run(...team)).toMatchObject([0, { labels: { team: "a b" } }]);
  const message = "the runs with the label team=a b have cost $2.0000 today (UTC), the budget is $1.5: ";
  const error = { code: "BUDGET_COST", message: expect.stringContaining(message) as string };
  expect(await run(...team)).toMatchObject([7, { error }]);
  expect(await run("--label", "team=b", "--max-cost-usd-per-day", "1.5")).toMatchObject([0, {}]);
  expect(await run("--max-cost-usd-per-day", "3")).toMatchObject([7, { error: { code: "BUDGET_COST" } }]);
  expect(await run("--max-cost-usd-per-day", "4")).toMatchObject([0, {}]);
  expect(await run("--label", "team")).toMatchObject([2, { error: { code: "USAGE" } }]);
  expect(await run("--no-save", ...team)).toMatchObject([2, { error: { code: "USAGE" } }]);
  const { stdout } = await runSheaf(["usage", "--json", "--by", "label"], { cwd, home });
  const { rows, total } = JSON.parse(stdout) as {
    rows: { label: string; usage: { inputTokens: number } }[];
    total: object;
  };
  expect(rows.map(({ label, usage: { inputTokens } }) => [label, inputTokens / 500_000])).toEqual([
    ["", 1],
    ["job=x", 1],
    ["team=a b", 2],
    ["team=b", 1],
  ]);
  expect(total).toMatchObject({ usage: { inputTokens: 2_000_000 } });
});

test(verifies("C171", "the final message is in a file, after a failure too, and an old one never stays"), async () => {
  const [home, cwd] = [folders.newFolder(), folders.newFolder({ "out.md": "old" })];
  const list = { call: { tool: "list_dir", arguments: { path: "." } } };
  const run = async (turns: readonly object[], ...args: string[]) => {
    writeFileSync(join(cwd, "script.json"), JSON.stringify({ turns }));
    const words = ["-p", "--model", "scripted:script.json", "--output-last-message", "out.md", ...args, "go"];
    const { code, stdout, stderr } = await runSheaf(words, { cwd, home });
    return { code, text: readFileSync(join(cwd, "out.md"), "utf8"), stdout, stderr };
  };
  const busy = { error: { code: "PROVIDER_REJECTED", message: "no" } };
  expect(await run([{ events: [{ text: "First." }, list] }, { events: [{ text: "Last." }] }])).toMatchObject({
    code: 0,
    text: "Last.\n",
  });
  const half = await run([{ events: [{ text: "Half." }, busy] }], "--output-format", "json");
  expect(half).toMatchObject({ code: 4, text: "Half.\n" });
  expect(await run([{ events: [busy] }])).toMatchObject({ code: 4, text: "" });
  for (const file of ["none/out.md", "/dev/full", "."]) {
    const { code, stdout, stderr } = await run([{ events: [{ text: "Done." }] }], "--output-last-message", file);
    expect([file, code, stderr.split("\n").length]).toEqual([file, 2, 2]);
    expect(parseStream(stdout).at(-1)).toMatchObject({ is_error: true, num_turns: 0, error: { code: "USAGE" } });
  }
});

test(verifies("C60", "runs of several models, workspaces and a fork are counted once each"), async () => {
  const home = folders.newFolder();
  const [cwd, other] = [folders.newFolder({ "a.txt": "a" }), folders.newFolder()];
  const usage = async (...args: string[]) => {
    const { code, stdout, stderr } = await runSheaf(["usage", ...args], { cwd, home });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  expect(await usage()).toMatch(/^No stored session/);
  expect(JSON.parse(await usage("--json"))).toMatchObject({ total: { requests: 0, cost_usd: 0 }, rows: [] });

  const script = join(cwd, "script.json");
  const used = { promptTokens: 100, completionTokens: 10, cachedPromptTokens: 40 };
  const turns = [
    { events: [{ call: { tool: "list_dir", arguments: { path: "." } } }], usage: used },
    { events: [{ text: "Done." }], usage: used },
    { events: [{ text: "Again." }], usage: used },
  ];
  writeFileSync(script, JSON.stringify({ name: "Scripted", turns }));
  const run = async (args: readonly string[], folder: string) => {
    const { code, stdout } = await runSheaf(["-p", "--model", `scripted:${script}`, ...args, "go"], {
      cwd: folder,
      home,
    });
    expect(code).toBe(0);
    return String(parseStream(stdout)[0]!.session_id);
  };
  const session = await run([], cwd);
  await run(["--resume", session], cwd);
  await run([], other);
  await runSheaf(["-p", "--model", "offline", "help"], { cwd, home });
  expect((await runSheaf(["fork", session], { cwd, home })).code).toBe(0);

  const report = JSON.parse(await usage("--json")) as { rows: { model: string }[]; total: object };
  expect(report).toMatchObject({ workspace: expect.stringContaining(cwd) as string, since: null });
  expect(report.rows.find(({ model }) => model === "Scripted")).toMatchObject({
    sessions: 1,
    runs: 2,
    requests: 3,
    usage: { inputTokens: 300, outputTokens: 30, cacheReadTokens: 120, cacheWriteTokens: 0 },
    cost_usd: 0,
    unpriced_requests: 0,
  });
  expect(report.total).toMatchObject({ sessions: 2, runs: 3 });
  const all = JSON.parse(await usage("--json", "--all", "--by", "workspace,model")) as { rows: object[] };
  expect(all).toMatchObject({ workspace: null, total: { sessions: 3, requests: 6 } });
  expect(all.rows).toHaveLength(3);
  expect(await usage("--by", "day")).toMatch(/^day +runs +requests .*\n\d{4}-\d\d-\d\d +3 +4 .*\ntotal +3 +4 .*\n$/);
  expect(JSON.parse(await usage("--json", "--since", "2999-01-01"))).toMatchObject({ total: { requests: 0 } });
  expect(JSON.parse(await usage("--json", "--since", "1h"))).toMatchObject({ total: { requests: 4 } });
});
