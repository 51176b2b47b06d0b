/** Command lines that end before they do anything. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommandLine } from "../src/command-line.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";

const folder = createTestFolder().newFolder();

/** What stderr says. */
async function refuse(words: readonly string[]): Promise<string> {
  let stderr = "";
  const ports = createMemoryPorts({ onError: (text) => void (stderr += text) });
  const environment = { HOME: folder, SHEAF_HOME: join(folder, "home") };
  await runCommandLine(words, { ports, environment, findFolder: () => folder });
  return stderr;
}

const id = "123e4567-e89b-42d3-a456-426614174000";

test.each([
  [["export"], "export needs SESSION: run sheaf ls --all to list the sessions"],
  [["export", "x"], '"x" is not the id of a session'],
  [["export", id], `the session ${id} is not stored`],
  [["export", id, "--format", "pdf"], '--format "pdf" is unknown: use one of json, markdown'],
  [["fork", "x"], '"x" is not the id of a session'],
  [["fork", id], `the session ${id} is not stored`],
  [["rm"], "rm needs SESSION…: run sheaf ls --all to list the sessions"],
  [["import"], "import needs FILE: write sheaf import session.json"],
  [["import", "missing.json"], "missing.json does not exist"],
  [["ls", "x"], 'ls takes no words, but got "x". For the prompt "ls x" write sheaf -p -- ls x'],
  [["ls", "--limit", "0"], '--limit "0" is not a whole number'],
  [["create-chat", "--plan"], "--plan does not go with sheaf create-chat"],
  [["help", "nope"], 'there is no command "nope"'],
  [["config"], "write sheaf config explain"],
  [["completion", "tcsh"], "use one of bash, zsh, fish"],
  [["show", "not-an-id"], '"not-an-id" is not the id of a session'],
  [["show", "x", "--format", "json"], "--format does not go with sheaf show"],
  [["answer", "x", "--continue"], "--continue does not go with sheaf answer"],
  [["convert", "--from", "markdown", "--to", "documents", "-o", "x"], "--output does not go with sheaf convert"],
  [["schema", "nothing"], "stream-json, documents, text-document"],
  [["doctor", "--format", "yaml"], '--format "yaml" is unknown'],
  [["doctor", "now"], "doctor takes no words"],
  [["doctor", "--force"], "--force does not go with sheaf doctor"],
  [["login"], "login takes one word"],
  [["login", "anthropic", "--model", "x"], "--model does not go with sheaf login"],
  [["login", "antropic"], "did you mean anthropic?"],
  [["logout", "a", "b"], "logout takes [PROVIDER]"],
  [["logout", "nobody"], '"nobody" is unknown'],
  [["mcp", "logout", "nobody"], 'there is no MCP server "nobody"'],
  [["hooks", "test", "PreToolUse", "--tool", "Typo"], 'there is no tool "Typo"'],
  [["models", "opnai"], "did you mean openai"],
  [["models", "--api-key", "x"], "--api-key goes with one provider"],
  [["models", "a", "b"], "models takes [PROVIDER]"],
  [["models", "--", "a", "b"], "models takes [PROVIDER]"],
  [["answer"], "answer needs SESSION QUESTION=OPTION…: run sheaf ls --all"],
  [["show", ""], 'show needs SESSION, not "" (an unset variable?): run sheaf ls --all'],
  [["convert", "x"], 'convert takes --to FORMAT [--from FORMAT], but got "x"'],
  [["install-alias"], "install-alias needs DIR: write sheaf install-alias ~"],
  [["schema"], "schema needs NAME: write one of stream-json"],
  [["revert", id, "a", "--to", "b"], '"a" and --to "b" both name a response'],
  [["revert", "no-uuid"], '"no-uuid" is not the id of a session'],
  [["revert", id], "is not stored"],
  [["revert", id, id, "more"], "revert takes SESSION [RESPONSE]"],
  [["revert", id, "--on-conflict", "maybe"], "use refuse, leave or overwrite"],
  [["revert", id, "--model", "offline"], "--model does not go with sheaf revert"],
  [["permissions"], "write sheaf permissions explain"],
  [
    ["permissions", "check", "--command", "ls", "--url", "http://a"],
    "permissions check needs one case: add --command CMD",
  ],
  [["permissions", "check", "--path", "a", "--access", "run"], '--path needs --access read or write, but got "run"'],
  [["permissions", "explain", "--model", "offline"], "--model does not go with sheaf permissions"],
  [["usage", "--by", "week"], '--by "week" is unknown: use '],
  [["usage", "--since", "yesterday"], '--since "yesterday" is not a time: write '],
  [["usage", "--since", "2026-13-45"], '--since "2026-13-45" is not a time: write '],
  [["-p", "--heartbeat", "1e9", "--model", "offline", "go"], '--heartbeat "1e9" is more than 2147483 seconds'],
  [["-p", "--model", "offline", "--base-url", "http://h", "go"], "--base-url has no effect"],
  [["-p", "--model", "openai-compatible/m", "go"], "add --base-url"],
  [["-p", "--resume", "go on"], 'and the prompt after --, as in --resume -- "go on"'],
  [
    ["-p", "--continue", "--no-save", "--model", "offline", "x"],
    "a run with --no-save cannot continue a session: leave --no-save out",
  ],
  [
    ["-p", "--continue", "--session-id", id, "--model", "offline", "x"],
    `--session-id ${id} and --resume or --continue name two sessions`,
  ],
  [["-p", "--compat", "cursor", "x"], '--compat "cursor" is unknown: use one of sheaf, cursor-2026'],
  [["-p", "--output-format=xml", "x"], "use one of text, json, stream-json, documents, documents-stream"],
  [["-p", "--mode", "fast", "x"], '--mode "fast" is unknown: use '],
  [["mcp", "add"], "mcp add takes a name"],
  [["mcp", "add", "a b", "--", "x"], "expected a name of letters"],
  [["mcp", "add", "__proto__", "--", "x"], "expected a name of letters"],
  [["mcp", "add", "a", "--url", "ftp://x"], "mcpServers.a"],
  [["mcp", "add", "a", "--url", "http://x", "--", "y"], "mcp add takes a name"],
  [["mcp", "forget"], 'mcp "forget" is unknown'],
])(verifies("C20", "%j is refused in one line with a reason"), async (words, message) => {
  const line = await refuse(words);
  expect(line).toMatch(/^sheaf: (?:USAGE|CONFIG_INVALID): [^\n]+\n$/);
  expect(line).toContain(message);
});
