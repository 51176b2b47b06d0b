/** `sheaf acp`, driven by the official SDK's own client side, over the stdio of the built program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { methods, type SessionUpdate, type UsageUpdate } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import { say, startEditor, toText } from "../support/acp-editor.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { createPng } from "../support/images.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const isHistory = ({ sessionUpdate }: SessionUpdate): boolean => sessionUpdate !== "available_commands_update";

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

test(verifies("C208", "the file of the registry has the form of its schema, and starts Sheaf"), async () => {
  const folder = join(import.meta.dirname, "../../deploy/acp-registry");
  const file = JSON.parse(readFileSync(join(folder, "agent.json"), "utf8")) as {
    readonly version: string;
    readonly distribution: { readonly npx: { readonly args: readonly string[] } };
  };
  expect(file).toEqual({
    id: expect.stringMatching(/^[a-z][a-z0-9-]*$/),
    name: "Sheaf",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    description: expect.stringMatching(/./),
    license: "Apache-2.0",
    icon: "./icon.svg",
    distribution: { npx: { package: `sheaf@${file.version}`, args: ["acp"] } },
  });
  const icon = readFileSync(join(folder, "icon.svg"), "utf8");
  expect(icon).toContain('width="16" height="16"');
  expect(icon.match(/(?:fill|stroke)="(?!none|currentColor)[^"]*"/g)).toBe(null);
  const [program, ...args] = file.distribution.npx.args;
  const editor = await startEditor(folders.newFolder(), [...args, ...scripted]);
  expect([program, editor.initialized.agentInfo?.version]).toEqual(["acp", file.version]);
});

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
    const told = again.updates.filter(isHistory);
    expect(told[0]).toEqual({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "go" } });
    expect(told.slice(1)).toEqual(editor.updates.filter(isHistory));
  });

  test(verifies(["C43", "X17"], "a client of cursor-agent gets and gives its ids of options"), async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
    const flags = [...scripted, "--compat", "cursor-2026"];
    const editor = await startEditor(cwd, flags, { choose: () => "allow-once" });
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await agent.request(methods.agent.session.prompt, say(sessionId, "go"));
    expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("made\n");
    expect(editor.permissions[0]!.options[0]).toMatchObject({ optionId: "allow-once", kind: "allow_once" });
  });

  test(verifies("C207", "its window and its cost are reported, also after a restart"), async () => {
    const settings = JSON.stringify({ prices: { "scripted:s.json": { input: 1, output: 1 } } });
    const say2 = { turns: ["one", "two"].map((text) => ({ events: [{ text }] })) };
    const cwd = folders.newFolder({ "s.json": JSON.stringify(say2), ".home/config.json": settings });
    const args = [...scripted, "--context-tokens", "50000"];
    const editor = await startEditor(cwd, args);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    for (const text of ["go", "on"]) await agent.request(methods.agent.session.prompt, say(sessionId, text));
    const isUsage = ({ sessionUpdate }: SessionUpdate): boolean => sessionUpdate === "usage_update";
    const live = editor.updates.filter(isUsage);
    expect(live).toEqual([1, 2].map(() => expect.objectContaining({ size: 50_000, used: expect.any(Number) })));
    const costs = live.map((update) => (update as UsageUpdate).cost);
    expect(costs).toMatchObject([{ currency: "USD" }, { currency: "USD" }]);
    expect(costs[1]!.amount).toBeGreaterThan(costs[0]!.amount * 1.5);

    const again = await startEditor(cwd, args);
    await again.connection.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    expect(again.updates.filter(isUsage)).toEqual(live);
  });

  test(verifies("C240", "a prompt goes to the answer that runs, or is the next one"), async () => {
    const call = { call: { tool: "read_file", arguments: { target_file: "s.json" } } };
    const turns = [
      { events: [{ text: "begin " }, { wait_ms: 1500 }, call] },
      { events: [{ text: "told " }, { wait_ms: 1500 }] },
      { events: [{ text: "next" }] },
    ];
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
    const editor = await startEditor(cwd, scripted);
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const steer = (text: string) =>
      agent.request(methods.agent.session.prompt, { ...say(sessionId, text), _meta: { whenBusy: "steer" } });
    const first = agent.request(methods.agent.session.prompt, say(sessionId, "go"));
    const isText = (text: string) => (update: SessionUpdate) =>
      update.sessionUpdate === "agent_message_chunk" && JSON.stringify(update.content).includes(text);
    await editor.waitFor(isText("begin"));
    const told = steer("use tabs");
    await editor.waitFor(isText("told"));
    const late = steer("and this");
    expect(await Promise.all([first, told, late])).toEqual([1, 2, 3].map(() => ({ stopReason: "end_turn" })));
    expect(toText(editor.updates)).toBe("begin told next");
    const before = editor.updates.length;
    await agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    const said = editor.updates.slice(before).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
    expect(said).toMatchObject(["go", "use tabs", "and this"].map((text) => ({ content: { text } })));
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
    const editor = await startEditor(cwd, scripted, { choose: () => "reject_once" });
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
    const editor = await startEditor(cwd, ["--model", "offline"]);
    expect(editor.initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "sheaf" },
      agentCapabilities: { loadSession: true },
    });
    const { agent } = editor.connection;
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
    const { sheaf } = await startEditor(cwd, ["--model", "offline"]);
    sheaf.input.end();
    expect(await sheaf.ended).toBe(0);
  });
});
