import { describe, expect, test } from "vitest";
import { claudeDialect } from "../../src/dialects/claude/claude.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const read = (words: readonly string[], environment: Record<string, string> = {}) =>
  claudeDialect.readArguments(words, { environment, cwd: import.meta.dirname });
const always = { mode: "agent", "exclude-tools": "ask_question" };

describe("arguments", () => {
  test.each([
    [["-p", "explain"], { print: true }],
    [["-p", "explain", "--output-format", "json"], { print: true, "output-format": "json" }],
    [["-p", "--model=claude-x", "--max-turns", "3", "explain"], { print: true, model: "claude-x", "max-turns": "3" }],
    [["--print", "explain", "--allowedTools", "Bash(git log:*)", "Read"], { print: true, allow: ["Shell(git log)"] }],
    [["explain", "--allowedTools=Bash,Edit", "-p"], { print: true, allow: ["Shell(*)", "Write(**)"] }],
    [
      ["explain", "--allowed-tools", "Bash(npm run test:*) mcp__db__find"],
      { allow: ["Shell(npm run test)", "Mcp(db:find)"] },
    ],
    [["explain", "--allowed-tools", "Bash(a * b)", "WebFetch(domain:x.org)"], { allow: ["WebFetch(x.org)"] }],
    [["explain", "--disallowedTools", "Read(.env)", "Edit(//etc/**)"], { deny: ["Read(.env)", "Write(/etc/**)"] }],
    [
      ["explain", "--disallowedTools", "Write,Bash"],
      { "exclude-tools": "ask_question,write_file,run_terminal_cmd,read_terminal" },
    ],
    [["explain", "--tools", "Read,Grep"], { tools: "read_file,grep_search" }],
    [["explain", "--tools", ""], { tools: "" }],
    [["-c", "-p", "explain"], { print: true, continue: true }],
    [["-p", "explain", "-r", "abc"], { print: true, resume: "abc" }],
    [["explain", "--permission-mode", "plan"], { mode: "plan" }],
    [
      ["explain", "--max-budget-usd", "1", "--json-schema", '{"a":1}'],
      { "max-cost-usd": "1", "output-schema": '{"a":1}' },
    ],
    [
      ["explain", "--append-system-prompt", "Be brief.", "--verbose"],
      { "append-system-prompt": "Be brief.", verbose: true },
    ],
    [["explain", "--thinking=disabled"], { effort: "off" }],
    [["explain", "--effort", "xhigh", "--add-dir", "../a", "../b"], { effort: "max", "add-dir": ["../a", "../b"] }],
    [
      ["explain", "--settings", '{"permissions":{"deny":["Bash(rm:*)"]},"model":"m"}'],
      { deny: ["Shell(rm)"], model: "m" },
    ],
    [["--no-session-persistence", "--", "explain"], { "no-save": true }],
    [["explain", "--allow-dangerously-skip-permissions", ""], {}],
  ])(verifies("C200", "%j are flags of Sheaf"), (words, flags) => {
    const { parsed, notices } = read(words);
    expect(parsed).toMatchObject({ command: "prompt", positionals: ["explain"] });
    expect(parsed.flags).toEqual({ ...always, ...flags });
    expect(notices).toEqual([]);
  });

  test.each([
    [["--debug"], "--debug is ignored: the log"],
    [["--setting-sources=user,project"], "--setting-sources is ignored: Sheaf reads"],
    [["--betas", "x", "--ide"], "--betas is ignored: Sheaf chooses"],
    [["--shiny"], "--shiny is ignored: Sheaf does not know it"],
    [["--settings", '{"apiKeyHelper":"/bin/key"}'], "apiKeyHelper is ignored: Sheaf runs no helper"],
    [["--dangerously-skip-permissions"], "leaves the sandbox on"],
    [["--input-format=stream-json", "--no-session-persistence"], "a conversation needs its session"],
  ])(verifies(["C200", "C201"], "%j have a notice"), (words, message) => {
    expect(read(["-p", ...words]).notices[0]?.message).toContain(message);
  });

  test.each([
    [["--permission-policy", "x"], "--permission-policy may limit the run"],
    [["--fork-session"], "--fork-session may limit"],
    [["--strict-mcp-config"], "--strict-mcp-config may limit"],
    [["--permission-mode", "wild"], 'the permission mode "wild" is unknown'],
    [["--permission-prompt-tool", "mcp__a__b"], "--permission-prompt-tool mcp__a__b would ask a tool server"],
    [["--disallowedTools", "Bash(a * b)"], '--disallowedTools "Bash(a * b)" has no rule'],
    [["--settings", '{"hooks":{}}'], "the setting hooks may limit"],
    [["--settings", '{"sandbox":{"enabled":true}}'], "the setting sandbox may limit"],
    [["--settings", "missing.json"], "--settings: missing.json does not exist"],
    [["--mcp-config", '{"mcpServers":{"a":{"type":"ws"}}}'], "--mcp-config: the server a cannot be used"],
    [["--model"], "--model needs a value"],
  ])(verifies("C200", "%j are refused"), (words, message) => {
    expect(() => read(["-p", ...words])).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) as string }),
    );
  });

  test(verifies("C200", "servers come from JSON, and those inside the program from its own lines"), () => {
    const mcpServers = { a: { type: "stdio", command: "true" }, b: { type: "sdk", name: "b" } };
    const { settings } = read(["-p", "--mcp-config", JSON.stringify({ mcpServers })]);
    expect(settings).toMatchObject({ mcpServers: { a: mcpServers.a } });
    expect(settings?.mcpServers).not.toHaveProperty("b");
  });

  test(verifies("C205", "the token of a subscription has a notice"), () => {
    const { notices } = read(["-p", "x"], { CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-1" });
    expect(notices.map(({ message }) => message)).toEqual([expect.stringMatching(/^CLAUDE_CODE_OAUTH_TOKEN is a/)]);
  });
});
