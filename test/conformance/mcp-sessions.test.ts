/** How long tool servers live, at every door: one start for a conversation, and none is left after it (C51). */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  client,
  methods,
  PROTOCOL_VERSION,
  type McpServer,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { toStream, type EditorStreams } from "../support/acp-editor.ts";
import { describeWithProgram } from "../support/programs.ts";
import { startServer } from "../support/server.ts";
import { compiledCode, createTestFolder, openSheaf, sheafProgram } from "../support/sheaf.ts";
import { openTerminal, type Terminal } from "../support/terminal.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const program = join(import.meta.dirname, "../support/counting-server.ts");
const count = { tool: "mcp__a__count", arguments: {} };
const script = { turns: [{ events: [{ call: count }] }, { events: [{ text: "Done." }] }], after: "loop" };

/** A folder with a server in the user's configuration, and what is known of its processes. */
function createPlace(turns: object = script) {
  const cwd = folders.newFolder({ "s.json": JSON.stringify(turns) });
  const starts = join(cwd, "starts");
  const server = { command: process.execPath, args: [program, starts], env: compiledCode };
  const config = JSON.stringify({ mcpServers: { a: server } });
  const home = folders.newFolder({ "config.json": config });
  const readStarts = (): string[] =>
    existsSync(starts) ? readFileSync(starts, "utf8").split("\n").filter(Boolean) : [];
  return {
    cwd,
    home,
    server,
    readStarts,
    /** Waits until no process is left, and forgets them. */
    expectEnd: async () => {
      const alive = (): string[] => readStarts().filter((pid) => existsSync(`/proc/${pid}`));
      await expect.poll(alive, { timeout: 10_000 }).toEqual([]);
      rmSync(starts, { force: true });
    },
  };
}

describe("an editor", () => {
  const words = ["acp", "--model", "scripted:s.json", "--force"];

  /** Connected, with the text of all updates. */
  async function connect(streams: EditorStreams) {
    const updates: SessionUpdate[] = [];
    const connection = client({ name: "test-editor" })
      .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
      .connect(toStream(streams));
    const { agent } = connection;
    await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION });
    return {
      agent,
      prompt: (sessionId: string) =>
        agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text" as const, text: "go" }] }),
      read: () => JSON.stringify(updates),
    };
  }

  test(
    verifies("C51", "starts a server once for each session; closing the session ends it, and so does the end"),
    async () => {
      const { cwd, home, readStarts, expectEnd } = createPlace();
      const sheaf = openSheaf(words, { cwd, home });
      const { agent, prompt, read } = await connect(sheaf);
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      for (let number = 0; number < 3; number += 1) await prompt(sessionId);
      expect(readStarts()).toHaveLength(1);
      expect(read()).toContain("call 3");
      const mode = { sessionId, modeId: "plan" };
      await agent.request(methods.agent.session.setMode, mode);
      await prompt(sessionId);
      await agent.request(methods.agent.session.setMode, { ...mode, modeId: "agent" });
      await prompt(sessionId);
      expect(readStarts()).toHaveLength(1);
      await agent.request(methods.agent.session.close, { sessionId });
      await expectEnd();
      const other = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
      await prompt(other.sessionId);
      expect(readStarts()).toHaveLength(1);
      sheaf.input.end();
      await expectEnd();
    },
  );

  test(
    verifies(["C51", "R-13"], "that is killed, or kills Sheaf, leaves none of the servers that it brought"),
    async () => {
      const { cwd, server, readStarts, expectEnd } = createPlace();
      const child = spawn(process.execPath, [sheafProgram, ...words], {
        cwd,
        stdio: ["pipe", "pipe", "inherit"],
        env: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: folders.newFolder(), ...compiledCode },
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      const { agent, prompt, read } = await connect({ input: child.stdin, output: child.stdout });
      const env = Object.entries(compiledCode).map(([name, value]) => ({ name, value }));
      const { command, args } = server;
      const mcpServers: McpServer[] = [{ name: "a", command, args, env }];
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers });
      await prompt(sessionId);
      await prompt(sessionId);
      expect(read()).toContain("call 2");
      expect(readStarts()).toHaveLength(1);
      child.kill("SIGKILL");
      await expectEnd();
    },
  );
});

test(
  verifies("C51", "serve starts a server once for each conversation, and ends it with the conversation or itself"),
  async () => {
    const { cwd, home, readStarts, expectEnd } = createPlace();
    const server = await startServer({ cwd, home, script, args: ["--force"] });
    const chat = async (body: object = {}): Promise<string> => {
      const response = await server.chat({ message: "go", ...body });
      await response.text();
      return response.headers.get("x-conversation-id")!;
    };
    const conversationId = await chat();
    await chat({ conversationId });
    expect(readStarts()).toHaveLength(1);
    await chat();
    expect(readStarts()).toHaveLength(2);
    expect((await server.fetch(`/v1/conversations/${conversationId}`, { method: "DELETE" })).status).toBe(204);
    const [first = ""] = readStarts();
    await expect.poll(() => existsSync(`/proc/${first}`), { timeout: 10_000 }).toBe(false);
    expect(await server.stop()).toBe(0);
    await expectEnd();
  },
);

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

describeWithProgram("tmux", () => {
  test(
    verifies(["C51", "C23"], "a terminal starts a server once; Ctrl-C ends an answer, and leaving ends the server"),
    async () => {
      const turns = [
        { events: [{ call: count }] },
        { events: [{ text: "first answer\n" }] },
        { events: [{ text: "second answer\n" }, { wait_ms: 60_000 }] },
        { events: [{ call: count }] },
        { events: [{ text: "third answer\n" }] },
      ];
      const { cwd, home, readStarts, expectEnd } = createPlace({ turns });
      const args = ["--model", "scripted:s.json", "--sandbox", "disabled", "--force"];
      const terminal = openTerminal({
        columns: 80,
        rows: 24,
        cwd,
        args,
        environment: { SHEAF_HOME: home, NO_COLOR: "1" },
      });
      open.push(terminal);
      const say = (text: string): void => {
        terminal.type(text);
        terminal.press("Enter");
      };
      await terminal.waitFor("›");
      say("one");
      await terminal.waitFor(/first answer[^]*›/);
      say("two");
      await terminal.waitFor("second answer");
      terminal.press("C-c");
      await terminal.waitFor(/CANCELLED[^]*›/i);
      say("three");
      await terminal.waitFor(/third answer[^]*›/);
      expect(readStarts()).toHaveLength(1);
      say("/quit");
      await terminal.waitFor("Go on with:");
      await expectEnd();
    },
  );
});
