/** `sheaf usage` over real runs, as a user sees it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

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
