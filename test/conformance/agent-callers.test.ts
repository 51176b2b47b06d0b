/** Argument lists of public programs that call other agents, as they write them: they run, or Sheaf refuses them with a reason. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, runSheaf, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

/** Whose list, the list, and the reason of a refusal; the prompt comes on stdin unless the list has it. */
type Row = readonly [caller: string, words: string, refusal?: RegExp];

const codex: readonly Row[] = [
  [
    "openai/codex-action, src/runCodexExec.ts",
    "exec --skip-git-repo-check --cd WORKSPACE --output-last-message out.md --output-schema schema.json --model gpt-5 --sandbox workspace-write",
  ],
  ["ridafkih/media-library-management-mcp, client/entrypoint.sh", "exec PROMPT --model qwen3 --skip-git-repo-check"],
  [
    "leegmoore/bubbletea-ts, .port-plan/codex-loop.zsh",
    "exec --model gpt-5.1-codex --config model_reasoning_effort=high --dangerously-bypass-approvals-and-sandbox -",
  ],
  [
    "tkersey/dotfiles, codex/skills/cx/scripts/cx-exec.sh",
    '--search --enable web_search_request --enable skills --yolo --dangerously-bypass-approvals-and-sandbox exec -m gpt-5.2-codex -c model_reasoning_effort="high" -- PROMPT',
    // The model of this test has none.
    /--web-search/,
  ],
  [
    "sypsyp97/claude-skill-codex, .claude/skills/codex/SKILL.md",
    'exec -m gpt-5 -c model_reasoning_effort="medium" -s read-only --skip-git-repo-check --full-auto PROMPT',
  ],
  ["jk278/claude-tools, skills/codex/SKILL.md", "exec --skip-git-repo-check resume --last"],
  [
    "figuretu/my-skills, cooperation-with-codex/references/codex-exec-guide.md",
    "exec --full-auto -m gpt-5.3-codex -c model_reasoning_effort=xhigh -C WORKSPACE PROMPT",
  ],
  ["figuretu/my-skills, cooperation-with-codex/references/codex-exec-guide.md", "exec resume SESSION PROMPT"],
  [
    "openclaw/openclaw, docs/gateway/cli-backends.md",
    "exec --json --color never --sandbox read-only --skip-git-repo-check --model gpt-5.2-codex PROMPT",
  ],
  [
    "openclaw/openclaw, docs/gateway/cli-backends.md",
    "exec resume SESSION --color never --sandbox read-only --skip-git-repo-check PROMPT",
  ],
  [
    "ben-vargas/ai-sdk-provider-codex-cli, src/exec-language-model.ts",
    "exec --experimental-json -c approval_policy=on-request -c sandbox_mode=workspace-write --skip-git-repo-check -m gpt-5 --output-last-message out.md -",
  ],
  [
    "openai/codex, sdk/typescript/src/exec.ts",
    'exec --experimental-json --model gpt-5 --sandbox danger-full-access --cd WORKSPACE --add-dir ADDED --skip-git-repo-check --config model_reasoning_effort="low" --config sandbox_workspace_write.network_access=false --config web_search="disabled" --config approval_policy="never"',
  ],
  ["ninjaproger/skills, skills/codex-agent/references/codex-cli.md", "exec resume --all", /--all .*sheaf ls --all/],
  [
    "defin85/part_catalog, codex_help.md",
    'exec -c sandbox_permissions=["disk-full-read-access"] PROMPT',
    /--config sandbox_permissions .*safety/,
  ],
];

const folders = createTestFolder();
const prompt = "What is\nin README.md?";
const answer = '{"answer":"words"}';

async function start(program: string, words: string) {
  const files = {
    "README.md": "# Wordy\n",
    "s.json": JSON.stringify({ turns: [{ events: [{ text: answer }] }], after: "repeat_last" }),
    "schema.json": JSON.stringify({ type: "object", required: ["answer"] }),
  };
  const cwd = folders.newFolder(files);
  const values: Readonly<Record<string, string>> = {
    WORKSPACE: cwd,
    SESSION: randomUUID(),
    ADDED: folders.newFolder(),
  };
  const fill = (word: string): string =>
    word === "PROMPT" ? prompt : word.replace(/WORKSPACE|SESSION|ADDED/, (name) => values[name]!);
  const setup = {
    cwd,
    home: join(cwd, "home"),
    program: join(cwd, program),
    environment: { SHEAF_MODEL: "scripted:s.json" },
  };
  // So that the newest session exists.
  if (words.includes("--last")) await runSheaf(["exec", "Go"], setup);
  return runSheaf(words.split(" ").map(fill), { ...setup, ...(!words.includes("PROMPT") && { input: prompt }) });
}

test.each(codex.map(([caller, words, refusal]) => [caller, words, refusal] as const))(
  verifies(["C210", "C211", "C212"], "%s: codex %s"),
  async (_caller, words, refusal) => {
    const { code, stdout, stderr } = await start("codex", words);
    if (refusal) return expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(refusal)]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    if (!/--(experimental-)?json/.test(words)) return expect(stdout).toBe(`${answer}\n`);
    const lines = toLines(stdout).map((line) => JSON.parse(line) as { type: string; item?: { text?: string } });
    expect(lines.filter(({ item }) => item?.text === answer).length).toBe(1);
    expect(lines.at(-1)!.type).toBe("turn.completed");
  },
);
