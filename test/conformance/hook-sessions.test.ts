/** When hooks see a session begin and end, at every door (C87). */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { afterEach, expect, test } from "vitest";
import { say, startEditor } from "../support/acp-editor.ts";
import { describeWithProgram } from "../support/programs.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { openTerminal, type Terminal } from "../support/terminal.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const script = { turns: [{ events: [{ text: "Done." }] }], after: "loop" };

const note =
  'sed -E \'s/.*"hook_event_name":"([A-Za-z]*)"(.*"(source|reason)":"([a-z]*)")?.*/\\1 \\4/\' >> "$CLAUDE_PROJECT_DIR/seen"';

/** A folder, a user whose hooks note each event, and what they noted. */
function createPlace() {
  const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
  const list = [{ hooks: [{ type: "command", command: note }] }];
  const hooks = { SessionStart: list, UserPromptSubmit: list, SessionEnd: list };
  const home = folders.newFolder({ "config.json": JSON.stringify({ hooks }) });
  const seen = join(cwd, "seen");
  const read = (): string[] =>
    existsSync(seen)
      ? readFileSync(seen, "utf8")
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== "")
      : [];
  return { cwd, home, read, forget: () => rmSync(seen, { force: true }) };
}

const args = ["--model", "scripted:s.json", "--sandbox", "disabled"];
const prompt = "UserPromptSubmit";
const [startup, resume, sessionEnd] = ["SessionStart startup", "SessionStart resume", "SessionEnd other"] as const;

test(
  verifies("C87", "with -p a session is a run; its end is in the log"),
  async () => {
    const { cwd, home, read, forget } = createPlace();
    const run = await runSheaf(["-p", "go", ...args], { cwd, home });
    expect(read()).toEqual([startup, prompt, sessionEnd]);
    const lines = parseStream(run.stdout);
    expect(lines.at(-2)).toMatchObject({ subtype: "hook", event: "SessionEnd" });
    forget();
    await runSheaf(["-p", "go", "--continue", ...args], { cwd, home });
    expect(read()).toEqual([resume, prompt, sessionEnd]);
  },
  30_000,
);

test(
  verifies("C87", "with stream-json on stdin a session is the process"),
  async () => {
    const { cwd, home, read } = createPlace();
    const message = (text: string) => JSON.stringify({ type: "user", message: { role: "user", content: text } });
    const words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", ...args];
    const run = await runSheaf(words, { cwd, home, input: `${message("one")}\n${message("two")}\n` });
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(read()).toEqual([startup, prompt, prompt, sessionEnd]);
  },
  30_000,
);

test(
  verifies("C87", "in an editor a session ends when the editor closes it"),
  async () => {
    const { cwd, home, read } = createPlace();
    const { connection } = await startEditor(cwd, args, { home });
    const { agent } = connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await agent.request(methods.agent.session.prompt, say(sessionId, "one"));
    await agent.request(methods.agent.session.prompt, say(sessionId, "two"));
    expect(read()).toEqual([startup, prompt, prompt]);
    await agent.request(methods.agent.session.close, { sessionId });
    await expect.poll(read, { timeout: 10_000 }).toEqual([startup, prompt, prompt, sessionEnd]);
  },
  30_000,
);

test(
  verifies(["C87", "S-143"], "serve runs the operator's hooks; a session begins with its conversation"),
  async () => {
    const { cwd, home, read } = createPlace();
    const server = await startServer({ cwd, home, script, args: ["--sandbox", "disabled"] });
    const first = await server.chat({ message: "one" });
    await first.text();
    const conversationId = first.headers.get("x-conversation-id")!;
    await (await server.chat({ message: "two", conversationId })).text();
    expect(read()).toEqual([startup, prompt, prompt]);
  },
  30_000,
);

test(
  verifies("S-143", "what a hook tells the operator, and its command, reach no client"),
  async () => {
    const cwd = folders.newFolder();
    const command = `echo '{"systemMessage":"/srv/secret"}' # /opt/guard`;
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] };
    const home = folders.newFolder({ "config.json": JSON.stringify({ hooks }) });
    const server = await startServer({ cwd, home, args: ["--sandbox", "disabled"] });
    const response = await server.chat({ message: "one", stream: false });
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(body).toContain("Hello world.");
    expect(body).not.toMatch(/secret|guard/);
  },
  30_000,
);

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

describeWithProgram("tmux", () => {
  test(
    verifies("C87", "in a terminal a session ends with it"),
    async () => {
      const { cwd, home, read } = createPlace();
      const environment = { SHEAF_HOME: home, NO_COLOR: "1" };
      const terminal = openTerminal({ columns: 80, rows: 24, cwd, args, environment });
      open.push(terminal);
      await terminal.waitFor("›");
      for (const text of ["one", "two"]) {
        terminal.type(text);
        terminal.press("Enter");
        await terminal.waitFor(new RegExp(`${text}[^]*Done\\.[^]*›`));
      }
      expect(read()).toEqual([startup, prompt, prompt]);
      terminal.type("/quit");
      terminal.press("Enter");
      await terminal.waitFor("Go on with:");
      await expect.poll(read, { timeout: 10_000 }).toEqual([startup, prompt, prompt, sessionEnd]);
    },
    60_000,
  );
});
