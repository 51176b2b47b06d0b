/** Programs that others wrote for cursor-agent, as they come from the registry, with Sheaf in its place. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { client, methods, ndJsonStream, PROTOCOL_VERSION, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { installClients } from "../support/clients.ts";
import { describeWhere, type Missing } from "../support/describe-where.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const folders = createTestFolder();
const home = folders.newFolder();

const script = {
  turns: [
    { events: [{ text: "I will look. " }, { call: { tool: "read_file", arguments: { target_file: "README.md" } } }] },
    { events: [{ text: "It counts words." }] },
    { events: [{ text: "begin " }, { wait_ms: 1000 }, { text: "end" }] },
  ],
};

interface Place {
  /** Folder with the clients in `node_modules`. */
  readonly clients: string;
  readonly environment: Record<string, string>;
}

/** Installs the clients; describes why not, if no registry answers. */
async function install(): Promise<Place & { readonly missing: Missing | undefined }> {
  const clients = folders.newFolder();
  const bin = join(clients, "bin");
  mkdirSync(bin);
  await runSheaf(["install-alias", bin, "--as", "cursor-agent"], { cwd: clients, home });
  const environment = {
    PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`,
    HOME: home,
    SHEAF_HOME: join(home, ".sheaf"),
    SHEAF_MODEL: "scripted:s.json",
    // A notice on stderr must not disturb them (C47).
    CURSOR_API_KEY: "key_0123",
  };
  return { clients, environment, missing: await installClients(clients) };
}

const { clients, environment, missing } = await install();
const newWorkspace = (): string => folders.newFolder({ "README.md": "# Wordy\n", "s.json": JSON.stringify(script) });

describeWhere("clients", missing, () => {
  test(
    verifies(
      ["C30", "C14"],
      "@blowmage/cursor-agent-acp over ACP: initialize, new, prompt, a session that goes on, cancel",
    ),
    async () => {
      const cwd = newWorkspace();
      const program = join(clients, "node_modules/@blowmage/cursor-agent-acp/dist/bin/cursor-agent-acp.js");
      const args = [program, "--session-dir", join(home, "sessions"), "--timeout", "60000", "--log-level", "error"];
      const child = spawn(process.execPath, args, { cwd, env: environment, stdio: ["pipe", "pipe", "ignore"] });
      const updates: SessionUpdate[] = [];
      const connection = client({ name: "test-editor" })
        .onNotification(methods.client.session.update, ({ params }) => {
          updates.push(params.update);
        })
        .connect(
          ndJsonStream(
            Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
            Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
          ),
        );
      try {
        const { agent } = connection;
        const initialized = await agent.request(methods.agent.initialize, {
          protocolVersion: PROTOCOL_VERSION,
          clientCapabilities: {},
        });
        expect(initialized.protocolVersion).toBe(PROTOCOL_VERSION);
        const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
        const ask = (text: string) =>
          agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
        expect(await ask("What is it?")).toMatchObject({ stopReason: "end_turn" });
        expect(toText(updates)).toContain("It counts words.");
        // This client lets a prompt of this kind run to its end when it is cancelled, whatever follows it.
        const ended = ask("Go on");
        await agent.notify(methods.agent.session.cancel, { sessionId });
        expect(await ended).toMatchObject({ stopReason: expect.stringMatching(/^(end_turn|cancelled)$/) as string });
        expect(toText(updates)).toContain("begin end");
      } finally {
        connection.close();
        child.kill("SIGKILL");
      }
    },
  );

  test(
    verifies(["C23", "C30"], "@blowmage/cursor-agent-acp: a streamed answer, and one that is cancelled"),
    async () => {
      const cwd = folders.newFolder({
        "README.md": "# Wordy\n",
        "s.json": JSON.stringify({
          turns: [
            ...script.turns.slice(0, 2),
            { events: [{ text: "begin " }, { wait_ms: 60_000 }, { text: "never" }] },
          ],
        }),
      });
      const program = `
      const { CursorCliBridge, DEFAULT_CONFIG, createLogger } = require(${JSON.stringify(join(clients, "node_modules/@blowmage/cursor-agent-acp"))});
      const bridge = new CursorCliBridge(DEFAULT_CONFIG, createLogger({ level: "error", silent: true }));
      const ask = async (value, stopsAt) => {
        const abort = new AbortController();
        let text = "";
        // It resolves or rejects when it is aborted, by what comes first.
        const stop = (error) => ({ success: false, exitCode: -1, error });
        const result = await bridge.sendStreamingPrompt({
          sessionId: "s",
          content: { value },
          metadata: { cwd: process.cwd(), model: "auto", cursorChatId: "123e4567-e89b-42d3-a456-426614174001" },
          abortSignal: abort.signal,
          onChunk: ({ data }) => {
            text += typeof data === "string" ? data : JSON.stringify(data) + "\\n";
            if (stopsAt && text.includes(stopsAt)) abort.abort();
          },
        }).catch(stop);
        return { success: result.success, exitCode: result.exitCode, text };
      };
      void ask("What is it?").then(async (first) => {
        console.log(JSON.stringify([first, await ask("Go on", '"begin "')]));
      });`;
      const { stdout } = await run(process.execPath, ["--input-type=commonjs", "-e", program], {
        cwd,
        env: environment,
      });
      const [first, second] = JSON.parse(stdout.trim().split("\n").at(-1)!) as [Streamed, Streamed];
      expect([first.success, first.exitCode]).toEqual([true, 0]);
      expect(first.text).toContain('"text":"It counts words."');
      expect(second.success).toBe(false);
      expect(second.text).toContain('"begin "');
      expect(second.text).not.toContain("never");
    },
  );

  test(
    verifies(["C3", "C30"], "@nothumanwork/cursor-agents-sdk: an answer, a stream, a session that goes on"),
    async () => {
      const cwd = newWorkspace();
      const module = pathToFileURL(join(clients, "node_modules/@nothumanwork/cursor-agents-sdk/dist/index.js")).href;
      const program = `
      import { CursorAgent } from ${JSON.stringify(module)};
      const agent = new CursorAgent({ forceWrites: true });
      const chatId = "123e4567-e89b-42d3-a456-426614174000";
      const answer = await agent.generate({ prompt: "What is it?", chatId });
      const events = [];
      for await (const event of agent.stream({ prompt: "Read README.md", model: "offline", streamPartialOutput: true })) events.push(event);
      console.log(JSON.stringify({ answer, events }));`;
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd, env: environment });
      const { answer, events } = JSON.parse(stdout) as {
        answer: Record<string, unknown>;
        events: { type: string; subtype?: string; result?: string }[];
      };
      expect(answer).toMatchObject({
        type: "result",
        subtype: "success",
        result: "I will look. It counts words.",
        session_id: "123e4567-e89b-42d3-a456-426614174000",
      });
      const kinds = events.map(({ type, subtype }) => `${type}${subtype === undefined ? "" : `/${subtype}`}`);
      expect(kinds.slice(0, 2)).toEqual(["system/init", "user"]);
      expect(kinds).toEqual(expect.arrayContaining(["assistant", "tool_call/started", "tool_call/completed"]));
      expect(kinds.at(-1)).toBe("result/success");
    },
  );

  test("the clients are as they were published", () => {
    const lock = JSON.parse(readFileSync(join(clients, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    for (const name of ["@blowmage/cursor-agent-acp", "@nothumanwork/cursor-agents-sdk"]) {
      expect(lock.packages[`node_modules/${name}`]?.integrity).toMatch(/^sha512-/);
      expect(existsSync(join(clients, "node_modules", name, "package.json"))).toBe(true);
    }
  });
});

interface Streamed {
  readonly success: boolean;
  readonly exitCode: number;
  readonly text: string;
}

function toText(updates: readonly SessionUpdate[]): string {
  return updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    )
    .join("");
}
