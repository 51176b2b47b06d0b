/** Command lines of commands that are not runs, which end before they do anything. The program's own lines are in test/conformance. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import { parseArguments, type ParsedArguments } from "../src/arguments.ts";
import { checkCommandLine } from "../src/command-flags.ts";
import { runCompletion } from "../src/commands/completion.ts";
import { runConfig } from "../src/commands/config.ts";
import { runExport } from "../src/commands/export.ts";
import { runHelp } from "../src/commands/help.ts";
import { runImport } from "../src/commands/import.ts";
import { runLogin, runLogout } from "../src/commands/login.ts";
import { runMcp } from "../src/commands/mcp.ts";
import { runModels } from "../src/commands/models.ts";
import { runRevert } from "../src/commands/revert.ts";
import { runSchema } from "../src/commands/schema.ts";
import { runFork, runListSessions, runRemoveSession } from "../src/commands/sessions.ts";
import { runShow } from "../src/commands/show.ts";
import { runDoctor } from "../src/commands/doctor.ts";
import type { CommandIo } from "../src/io.ts";
import { formatFailure } from "../src/report-error.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-refused-"));
afterAll(() => rmSync(folder, { recursive: true }));

const io: CommandIo = {
  environment: { HOME: folder, SHEAF_HOME: join(folder, "home") },
  cwd: folder,
  profile: "sheaf",
  ...createMemoryPorts(),
};

const commands: Partial<
  Record<ParsedArguments["command"], (parsed: ParsedArguments, io: CommandIo) => Promise<number>>
> = {
  completion: runCompletion,
  config: runConfig,
  export: runExport,
  fork: runFork,
  help: runHelp,
  import: runImport,
  login: runLogin,
  logout: runLogout,
  ls: runListSessions,
  mcp: runMcp,
  models: runModels,
  revert: runRevert,
  rm: runRemoveSession,
  schema: runSchema,
  show: runShow,
  doctor: runDoctor,
};

/** What stderr says. */
async function refuse(words: readonly string[]): Promise<string> {
  try {
    const parsed = parseArguments(words);
    checkCommandLine(parsed);
    throw new Error(`ended with ${await commands[parsed.command]?.(parsed, io)}`);
  } catch (error) {
    if (error instanceof SheafError) return formatFailure(error, false);
    throw error;
  }
}

const id = "123e4567-e89b-42d3-a456-426614174000";

test.each([
  [["export"], 'export takes SESSION; "" was given. See sheaf help export'],
  [["export", "x"], '"x" is not the id of a session'],
  [["export", id], `the session ${id} is not stored`],
  [["export", id, "--format", "pdf"], '--format "pdf" is unknown: use one of json, markdown'],
  [["fork", "x"], '"x" is not the id of a session'],
  [["fork", id], `the session ${id} is not stored`],
  [["rm"], 'rm takes SESSION…; "" was given. See sheaf help rm'],
  [["import"], 'import takes FILE; "" was given. See sheaf help import'],
  [["import", "missing.json"], "missing.json does not exist"],
  [["ls", "x"], 'ls takes no words; "x" was given'],
  [["ls", "--limit", "0"], '--limit "0" is not a whole number'],
  [["create-chat", "--plan"], "--plan does not go with sheaf create-chat"],
  [["help", "nope"], 'there is no command "nope"'],
  [["config"], "write sheaf config explain"],
  [["completion", "tcsh"], "use one of bash, zsh, fish"],
  [["show", "not-an-id"], '"not-an-id" is not the id of a session'],
  [["show", "x", "--format", "json"], "--format does not go with sheaf show"],
  [["replay", "x", "--json"], "--json does not go with sheaf replay"],
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
  [["models", "opnai"], "did you mean openai"],
  [["models", "--api-key", "x"], "--api-key goes with one provider"],
  [["models", "a", "b"], "models takes [PROVIDER]"],
  [["models", "--", "a", "b"], "models takes [PROVIDER]"],
  [["answer"], 'answer takes SESSION QUESTION=OPTION…; "" was given'],
  [["show", ""], 'show takes SESSION; "" was given'],
  [["convert", "x"], 'convert takes --from FORMAT --to FORMAT; "x" was given'],
  [["install-alias"], "install-alias takes DIR [NAME…]"],
  [["replay", "a", "b"], "replay takes FILE"],
  [["schema"], 'schema "" is unknown: name one of stream-json'],
  [["revert", id, "a", "--to", "b"], '"a" and --to "b" both name a response'],
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
