/** `sheaf acp`, driven by the official SDK's own client side, over the stdio of the built program. */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientConnection,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { createTestFolder, sheafProgram, compiledCode } from "../support/sheaf.ts";
import { createPng } from "../support/images.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Editor {
  readonly connection: ClientConnection;
  readonly child: ChildProcess;
  readonly updates: SessionUpdate[];
  readonly permissions: RequestPermissionRequest[];
  /** Resolves once an update like this came. */
  waitFor(matches: (update: SessionUpdate) => boolean): Promise<void>;
}

const editors: Editor[] = [];
afterEach(() => {
  for (const { connection, child } of editors.splice(0)) {
    connection.close();
    child.kill("SIGKILL");
  }
});

/** An editor; `choose` answers permission requests, undefined: cancelled. */
async function startEditor(
  cwd: string,
  args: readonly string[],
  choose: (request: RequestPermissionRequest) => string | undefined = () => "allow_once",
): Promise<Editor> {
  const child = spawn(process.execPath, [sheafProgram, "acp", ...args], {
    cwd,
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: cwd, SHEAF_HOME: join(cwd, ".home"), ...compiledCode },
  });
  const updates: SessionUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const waiting: { matches: (update: SessionUpdate) => boolean; resolve: () => void }[] = [];
  const connection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      for (const { matches, resolve } of waiting) if (matches(params.update)) resolve();
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      const optionId = choose(params);
      if (optionId === undefined) return { outcome: { outcome: "cancelled" } };
      return { outcome: { outcome: "selected", optionId } };
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  const editor: Editor = {
    connection,
    child,
    updates,
    permissions,
    waitFor(matches) {
      if (updates.some(matches)) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ matches, resolve });
      return promise;
    },
  };
  editors.push(editor);
  const initialized = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: {},
  });
  expect(initialized).toMatchObject({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "sheaf" },
    agentCapabilities: { loadSession: true },
  });
  return editor;
}

const say = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: "text" as const, text }] });

const toText = (updates: readonly SessionUpdate[]): string =>
  updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    )
    .join("");

const command = "echo made > made.txt";
const script = {
  turns: [
    { events: [{ text: "I will make it. " }, { call: { tool: "run_terminal_cmd", arguments: { command } } }] },
    { events: [{ call: { tool: "write_file", arguments: { target_file: "a.txt", content: "one\ntwo\n" } } }] },
    { events: [{ text: "All made." }] },
    { events: [{ text: "begin " }, { wait_ms: 60_000 }, { text: "never" }] },
  ],
};
const scripted = ["--model", "scripted:s.json", "--sandbox", "disabled"];

describe("a session", () => {
  test(verifies(["X17", "C14"], "new, prompt with an approval and a diff, load after a restart"), async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
    const editor = await startEditor(cwd, scripted);
    const { agent } = editor.connection;
    const { sessionId, modes } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    expect(modes?.availableModes.map(({ id }) => id)).toEqual(["agent", "plan", "ask", "debug"]);
    expect(await agent.request(methods.agent.session.prompt, say(sessionId, "go"))).toEqual({ stopReason: "end_turn" });

    expect(toText(editor.updates)).toBe("I will make it. All made.");
    expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("made\n");
    expect(editor.permissions).toHaveLength(1);
    expect(editor.permissions[0]).toMatchObject({ sessionId, toolCall: { rawInput: { command } } });
    const kinds = editor.updates.map(({ sessionUpdate }) => sessionUpdate);
    expect(kinds.filter((kind) => kind === "tool_call")).toHaveLength(2);
    const diff = { type: "diff", path: join(cwd, "a.txt"), oldText: null, newText: "one\ntwo\n" };
    expect(editor.updates).toContainEqual(expect.objectContaining({ status: "completed", content: [diff] }));

    const again = await startEditor(cwd, scripted);
    const listed = await again.connection.agent.request(methods.agent.session.list, { cwd });
    expect(listed.sessions).toMatchObject([{ sessionId, cwd, title: "go" }]);
    await again.connection.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    expect(again.updates[0]).toEqual({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "go" } });
    expect(again.updates.slice(1)).toEqual(editor.updates);
  });

  test(verifies(["C23", "X7"], "a prompt that is cancelled ends with that reason, and the next one runs"), async () => {
    const slow = { turns: [script.turns[3], { events: [{ text: "next" }] }] };
    const cwd = folders.newFolder({ "s.json": JSON.stringify(slow) });
    const editor = await startEditor(cwd, scripted);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const ended = agent.request(methods.agent.session.prompt, say(sessionId, "go"));
    await editor.waitFor(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    const busy = agent.request(methods.agent.session.prompt, say(sessionId, "and this"));
    await expect(busy).rejects.toMatchObject({ data: { code: "CONVERSATION_BUSY" } });
    await agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await ended).toEqual({ stopReason: "cancelled" });
    expect(await agent.request(methods.agent.session.prompt, say(sessionId, "again"))).toEqual({
      stopReason: "end_turn",
    });
    expect(toText(editor.updates)).toBe("begin next");
  });

  test(verifies(["S-16", "X8"], "a call that the editor rejects does not run"), async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
    const editor = await startEditor(cwd, scripted, () => "reject_once");
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await agent.request(methods.agent.session.prompt, say(sessionId, "go"));
    expect(() => readFileSync(join(cwd, "made.txt"))).toThrow("ENOENT");
    expect(editor.updates).toContainEqual(expect.objectContaining({ status: "failed" }));
  });

  test(verifies("S-15", "the mode of the session holds"), async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
    const editor = await startEditor(cwd, scripted);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "ask" });
    await agent.request(methods.agent.session.prompt, say(sessionId, "go"));
    expect(editor.permissions).toEqual([]);
    expect(() => readFileSync(join(cwd, "a.txt"))).toThrow("ENOENT");
    await expect(agent.request(methods.agent.session.setMode, { sessionId, modeId: "nonsense" })).rejects.toMatchObject(
      { code: -32_602 },
    );
  });

  test("attachments: links by name, embedded text whole, images by their bytes", async () => {
    const cwd = folders.newFolder({ "README.md": "# Wordy\n\nCounts words.\n" });
    const editor = await startEditor(cwd, ["--model", "offline"]);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const prompt = [
      { type: "text" as const, text: "Read README.md" },
      { type: "resource_link" as const, name: "README.md", uri: `file://${cwd}/README.md` },
      { type: "resource" as const, resource: { uri: "file:///notes.md", text: "```\nfenced\n```" } },
    ];
    expect(await agent.request(methods.agent.session.prompt, { sessionId, prompt })).toEqual({
      stopReason: "end_turn",
    });
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    await expect(agent.request(methods.agent.session.prompt, { sessionId, prompt: [image] })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("image 1 is not a PNG, JPEG, GIF or WebP image") as string,
    });
    const seen = { ...image, data: createPng(1, 1).toString("base64") };
    await expect(agent.request(methods.agent.session.prompt, { sessionId, prompt: [seen] })).rejects.toMatchObject({
      data: { code: "USAGE" },
      message: expect.stringContaining("does not take image/png") as string,
    });
  });

  test(verifies("C20", "failures are errors of the request, in the words of the table"), async () => {
    const cwd = folders.newFolder();
    const editor = await startEditor(cwd, []);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await expect(agent.request(methods.agent.session.prompt, say(sessionId, "go"))).rejects.toMatchObject({
      data: { code: "AUTH_REQUIRED" },
    });
    await expect(agent.request(methods.agent.session.prompt, say("nope", "go"))).rejects.toMatchObject({
      code: -32_602,
    });
    const missing = "123e4567-e89b-42d3-a456-426614174000";
    await expect(
      agent.request(methods.agent.session.load, { sessionId: missing, cwd, mcpServers: [] }),
    ).rejects.toMatchObject({ message: expect.stringContaining("is not stored") as string });
    await expect(
      agent.request(methods.agent.session.new, { cwd: join(cwd, "missing"), mcpServers: [] }),
    ).rejects.toMatchObject({ message: expect.stringContaining("name a folder that exists") as string });
  });

  test(verifies("C23", "the program ends when the editor goes away"), async () => {
    const cwd = folders.newFolder();
    const { child } = await startEditor(cwd, ["--model", "offline"]);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.stdin?.end();
    expect(await ended).toBe(0);
  });
});
