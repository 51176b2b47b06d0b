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
    /--config sandbox_permissions may limit/,
  ],
];

const claude: readonly Row[] = [
  [
    "LuskaBol/poe-code, packages/agent-spawn/src/configs/claude-code.ts",
    "-p PROMPT --model sonnet --allowedTools Bash,Read --permission-mode acceptEdits --output-format stream-json --verbose",
  ],
  [
    "LuskaBol/poe-code, packages/agent-spawn/src/configs/claude-code.ts",
    "-p --allowedTools Bash,Read --permission-mode acceptEdits --output-format stream-json --verbose --input-format text --resume SESSION",
  ],
  [
    "thecontstruct/bmad-story-orchestration, .cursor/skills/claude-cli/SKILL.md",
    "-p --dangerously-skip-permissions --model sonnet --append-system-prompt Brief. PROMPT",
  ],
  [
    "thecontstruct/bmad-story-orchestration, .cursor/skills/claude-cli/SKILL.md",
    "-r SESSION -p --dangerously-skip-permissions PROMPT",
  ],
  [
    "thecontstruct/bmad-story-orchestration, .cursor/skills/claude-cli/SKILL.md",
    "-c -p --dangerously-skip-permissions PROMPT",
  ],
  ["dw-flyingw/WanUI, ralph.sh", "-p PROMPT --dangerously-skip-permissions"],
  ["hurley87/ralphs-forge, ralph/loop.sh", "--dangerously-skip-permissions"],
  ["levino/shipyard, ralph/ralph.sh", "-p --verbose --dangerously-skip-permissions --output-format stream-json PROMPT"],
  [
    "giantswarm/custom-container-images, claude-code-ci/entrypoint.sh",
    "--print --permission-mode dontAsk --model claude-haiku-4-5-20251001 --max-turns 10 --max-budget-usd 0.20 --output-format json --verbose PROMPT",
  ],
  ["suryagaddipati/dotfiles, claude-functions.bash", "-p PROMPT --output-format text"],
  ["suryagaddipati/dotfiles, claude-functions.bash", "-p PROMPT --output-format json --allowedTools Bash(git:*)"],
  [
    "joshmu/dotfiles, scripts/raycast-claude.sh",
    "-p PROMPT --model haiku --allowedTools Read Grep Glob --disallowedTools Write Edit MultiEdit Bash TodoWrite --append-system-prompt Brief. --output-format json",
  ],
  [
    "myrakrusemark/claude-code-is-programmable, claude_code_is_programmable_2.py",
    "-p PROMPT --allowedTools Edit Bash Write",
  ],
  [
    "grahama1970/cc_executor, docs/guides/prompt_best_practices.md",
    "-p PROMPT --output-format stream-json --dangerously-skip-permissions --allowedTools none",
  ],
  [
    "echo-yiyiyi/PostTrainBench, agents/claude/solve.sh",
    "--print --verbose --model opus --output-format stream-json --dangerously-skip-permissions PROMPT",
  ],
  [
    "waynenilsen/prompts, v2/claude-wrapper.sh",
    "-p PROMPT --dangerously-skip-permissions --output-format stream-json --verbose",
  ],
  ["amanape/sauna, .sauna/scripts/run-agent.sh", "--dangerously-skip-permissions -p PROMPT"],
  [
    "diegopacheco/ai-playground, pocs/agent-debate-club/backend/src/agents/claude.rs",
    "-p PROMPT --model opus --dangerously-skip-permissions",
  ],
  [
    "diegopacheco/ai-playground, mcp/llm-judges/src/judges/claude.rs",
    "-p PROMPT --model sonnet --output-format text --tools  --dangerously-skip-permissions",
  ],
  ["GetAmaral/plenya, scripts/test_claude_output.py", "-p --model claude-sonnet-4-5-20250929 PROMPT"],
  ["c25l/ai-rss, claude.py", '--tools "" -p PROMPT'],
  [
    "nityeshaga/claude-code-essentials, plugins/basics/commands/schedule-claude.md",
    "-p PROMPT --allowedTools Read,Grep",
  ],
  [
    "abhishek-notes/claude-docker-automation, automation/claude-automation/setup-no-permissions.sh",
    "--dangerously-skip-permissions -p PROMPT",
  ],
  [
    "josh-gree/mobile-agents, tickets/001-003-claude-code-execution.md",
    "--print --dangerously-skip-permissions PROMPT",
  ],
  [
    "openclaw/openclaw, docs/gateway/cli-backends.md",
    "-p --output-format json --dangerously-skip-permissions --model opus --append-system-prompt Brief. --session-id SESSION PROMPT",
  ],
  [
    "openclaw/openclaw, docs/gateway/cli-backends.md",
    "-p --output-format json --dangerously-skip-permissions --resume SESSION PROMPT",
  ],
  [
    "nikhilmaddirala/gtd-cc, skills/ai-orchestrator/references/claude-code-flags.md",
    '-p PROMPT --output-format json --json-schema {"type":"object","required":["answer"]}',
  ],
  [
    "nikhilmaddirala/gtd-cc, skills/ai-orchestrator/references/claude-code-flags.md",
    "-p PROMPT --system-prompt Brief. --tools Bash,Edit,Read --max-turns 5 --max-budget-usd 2.00 --fallback-model sonnet",
    /the model "sonnet" is unknown/,
  ],
];

const folders = createTestFolder();
const prompt = "What is\nin README.md?";
const answer = '{"answer":"words"}';

async function start(program: string, words: string) {
  const files = {
    "README.md": "# Wordy\n",
    "s.json": JSON.stringify({ turns: [{ events: [{ text: answer }] }], after: "repeat_last" }),
    "home/config.json": JSON.stringify({ prices: { "scripted:s.json": { input: 1, output: 1 } } }),
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
  if (words.startsWith("-c ")) await runSheaf(["-p", "Go"], setup);
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

test.each(claude.map(([caller, words, refusal]) => [caller, words, refusal] as const))(
  verifies(["C200", "C204"], "%s: claude %s"),
  async (_caller, words, refusal) => {
    const { code, stdout, stderr } = await start("claude", words);
    if (refusal) return expect([code === 0, stderr]).toEqual([false, expect.stringMatching(refusal)]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    if (!/--output-format (stream-)?json/.test(words)) return expect(stdout).toBe(`${answer}\n`);
    const results = toLines(stdout).map((line) => JSON.parse(line) as { type: string; result?: string });
    expect(results.at(-1)).toMatchObject({ type: "result", subtype: "success", is_error: false, result: answer });
  },
);
