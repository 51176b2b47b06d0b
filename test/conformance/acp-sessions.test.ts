/** Sessions of `sheaf acp`: what a person chooses, the list, forks, commands, and the way to a key. */
import type { RequestListener } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { methods, type SessionConfigOption, type SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { afterEach, describe, expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { say, startEditor, toText, type Editor, type EditorOptions } from "../support/acp-editor.ts";
import { compiledCode, createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const { session, authenticate } = methods.agent;

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

const offline = ["--model", "offline", "--sandbox", "disabled"];

async function openSession(cwd: string, args: readonly string[] = offline, options: EditorOptions = {}) {
  const editor = await startEditor(cwd, args, options);
  const { agent } = editor.connection;
  const created = await agent.request(session.new, { cwd, mcpServers: [] });
  const ask = (text: string) => agent.request(session.prompt, say(created.sessionId, text));
  return { editor, agent, ask, ...created };
}

const valueOf = (options: readonly SessionConfigOption[] | null | undefined, id: string) =>
  options?.find((option) => option.id === id)?.currentValue;

const valuesOf = (options: readonly SessionConfigOption[] | null | undefined, id: string) => {
  const option = options?.find((one) => one.id === id);
  return option?.type === "select" ? option.options.map((one) => ("value" in one ? one.value : "")) : [];
};

/** A folder whose configuration has a local provider with these models, which answers every prompt with its model's name. */
async function startProvider(models: readonly string[]): Promise<string> {
  const keys: (string | undefined)[] = [];
  const answer: RequestListener = (request, response) => {
    keys.push(request.headers.authorization);
    if (request.method === "GET") {
      response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
      return;
    }
    let body = "";
    request.on("data", (part: Buffer) => void (body += part.toString()));
    request.on("end", () => {
      const { model, reasoning_effort: effort = "" } = JSON.parse(body) as { model: string; reasoning_effort?: string };
      const delta = { content: `I am ${model} ${effort}`.trim() };
      const chunk = (choice: object) =>
        `data: ${JSON.stringify({ id: "1", model, choices: [{ index: 0, ...choice }] })}\n\n`;
      response.setHeader("content-type", "text/event-stream");
      response.end(`${chunk({ delta })}${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`);
    });
  };
  return `${await serveHttp(answer, (end) => void opened.push(end))}/v1`;
}

async function createConfiguredFolder(settings: object = {}): Promise<string> {
  const baseUrl = await startProvider(["small", "large"]);
  const endpoints = { house: { baseUrl, protocol: "openai-chat", models: ["own"] } };
  const config = { model: "house/own", modelAliases: { quick: "house/small" }, endpoints, ...settings };
  return folders.newFolder({ ".home/config.json": JSON.stringify(config) });
}

const isOption = (update: SessionUpdate, value: string): boolean =>
  update.sessionUpdate === "config_option_update" && valuesOf(update.configOptions, "model").includes(value);

describe("a model", () => {
  test(verifies("C54", "is chosen from those of the configuration and of providers in reach, and kept"), async () => {
    const cwd = await createConfiguredFolder();
    const { editor, agent, ask, sessionId, configOptions } = await openSession(cwd, []);
    expect(configOptions?.map(({ id, category }) => [id, category])).toEqual([
      ["mode", "mode"],
      ["model", "model"],
      ["effort", "thought_level"],
    ]);
    expect(valueOf(configOptions, "model")).toBe("house/own");
    expect(valuesOf(configOptions, "model")).toContain("quick");
    await editor.waitFor((update) => isOption(update, "house/large"));

    const chosen = await agent.request(session.setConfigOption, { sessionId, configId: "model", value: "house/large" });
    expect(valueOf(chosen.configOptions, "model")).toBe("house/large");
    await agent.request(session.setConfigOption, { sessionId, configId: "effort", value: "high" });
    await agent.request(session.setConfigOption, { sessionId, configId: "mode", value: "ask" });
    expect(editor.updates.at(-1)).toMatchObject({ sessionUpdate: "config_option_update" });
    await ask("Who are you?");
    expect(toText(editor.updates)).toBe("I am large high");

    const again = await startEditor(cwd, []);
    const loaded = await again.connection.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
    expect(["mode", "model", "effort"].map((id) => valueOf(loaded.configOptions, id))).toEqual([
      "ask",
      "house/large",
      "high",
    ]);
    expect(loaded.modes?.currentModeId).toBe("ask");
    await again.connection.agent.request("session/set_model", { sessionId, modelId: "quick" });
    const third = await startEditor(cwd, []);
    const { configOptions: kept } = await third.connection.agent.request(session.resume, { sessionId, cwd });
    expect(valueOf(kept, "model")).toBe("house/small");
    const plan = await startEditor(cwd, ["--mode", "plan"]);
    const resumed = await plan.connection.agent.request(session.resume, { sessionId, cwd });
    expect(resumed.modes?.currentModeId).toBe("plan");
  });

  test(
    verifies("C54", "that is unknown is refused, and one that is gone gives way to that of the settings"),
    async () => {
      const cwd = await createConfiguredFolder();
      const { agent, ask, sessionId } = await openSession(cwd, []);
      for (const [configId, value] of [
        ["model", "nowhere/x"],
        ["effort", "huge"],
        ["colour", "red"],
      ] as const) {
        await expect(agent.request(session.setConfigOption, { sessionId, configId, value })).rejects.toThrow(
          value === "red" ? "colour" : value,
        );
      }
      await agent.request("session/set_model", { sessionId, modelId: "house/small" });
      await ask("Hello");
      const config = join(cwd, ".home/config.json");
      const { endpoints, ...rest } = JSON.parse(readFileSync(config, "utf8")) as { endpoints: object };
      writeFileSync(
        config,
        JSON.stringify({ ...rest, endpoints: { new: Object.values(endpoints)[0] as object }, model: "new/own" }),
      );
      const again = await startEditor(cwd, []);
      const loaded = await again.connection.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
      expect(valueOf(loaded.configOptions, "model")).toBe("new/own");
    },
  );

  test(verifies("C54", "of another provider does not get the key of the command line"), async () => {
    const cwd = await createConfiguredFolder();
    const { agent, sessionId } = await openSession(cwd, ["--model", "openai/gpt-5", "--api-key", "sk-of-openai"]);
    const other = { sessionId, configId: "model", value: "house/own" };
    await expect(agent.request(session.setConfigOption, other)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("--api-key belongs to openai") as string,
    });
    const same = await agent.request(session.setConfigOption, { ...other, value: "openai/gpt-5-mini" });
    expect(valueOf(same.configOptions, "model")).toBe("openai/gpt-5-mini");
  });
});

test(verifies(["C54", "S-15"], "a mode that is set in another program applies to the next prompt"), async () => {
  const write = (file: string) => ({
    events: [{ call: { tool: "write_file", arguments: { target_file: file, content: "x" } } }],
  });
  const turns = [{ events: [{ text: "One." }] }, write("a.txt"), { events: [{ text: "Two." }] }];
  const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
  const args = ["--model", "scripted:s.json", "--sandbox", "disabled"];
  const { editor, ask, sessionId } = await openSession(cwd, args);
  await ask("one");
  const other = (await startEditor(cwd, args)).connection.agent;
  await other.request(session.resume, { sessionId, cwd });
  await other.request(session.setMode, { sessionId, modeId: "ask" });
  await ask("two");
  expect(editor.updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "ask" });
  expect(() => readFileSync(join(cwd, "a.txt"))).toThrow("ENOENT");
});

describe("stored sessions", () => {
  test(verifies("C54", "are listed page by page"), async () => {
    const cwd = folders.newFolder();
    const { editor, agent } = await openSession(cwd);
    const ids: string[] = [];
    for (let count = 0; count < 53; count += 1) {
      const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [] });
      await agent.request(session.prompt, say(sessionId, `/nothing`));
      await agent.request(session.prompt, say(sessionId, `Hello ${count}`));
      ids.unshift(sessionId);
    }
    const first = await agent.request(session.list, { cwd });
    expect(first.sessions.map(({ sessionId }) => sessionId)).toEqual(ids.slice(0, 50));
    const second = await agent.request(session.list, { cwd, cursor: first.nextCursor ?? null });
    expect(second.sessions.map(({ sessionId }) => sessionId)).toEqual(ids.slice(50));
    expect(second.nextCursor ?? undefined).toBeUndefined();
    await expect(agent.request(session.list, { cwd, cursor: "second page" })).rejects.toMatchObject({ code: -32_602 });
    expect(await agent.request(session.list, { cwd: join(cwd, "elsewhere") })).toMatchObject({ sessions: [] });
    expect(editor.permissions).toEqual([]);
  });

  test(verifies("C54", "are forked with their history, and deleted"), async () => {
    const cwd = folders.newFolder({ "a.txt": "one\n" });
    const { editor, agent, ask, sessionId } = await openSession(cwd);
    await expect(agent.request(session.fork, { sessionId, cwd })).rejects.toThrow("no response to fork from");
    await ask("Read a.txt");
    const fork = await agent.request(session.fork, { sessionId, cwd });
    expect(fork.sessionId).not.toBe(sessionId);
    await agent.request(session.prompt, say(fork.sessionId, "Hello"));
    const prompts = async (id: string): Promise<string[]> => {
      const before = editor.updates.length;
      await agent.request(session.load, { sessionId: id, cwd, mcpServers: [] });
      return editor.updates
        .slice(before)
        .flatMap((update) =>
          update.sessionUpdate === "user_message_chunk" && update.content.type === "text" ? update.content.text : [],
        );
    };
    expect(await prompts(fork.sessionId)).toEqual(["Read a.txt", "Hello"]);
    expect(await prompts(sessionId)).toEqual(["Read a.txt"]);

    await agent.request(session.delete, { sessionId });
    await agent.request(session.delete, { sessionId });
    const { sessions } = await agent.request(session.list, { cwd });
    expect(sessions.map((one) => one.sessionId)).toEqual([fork.sessionId]);
    await expect(agent.request(session.load, { sessionId, cwd, mcpServers: [] })).rejects.toThrow("is not stored");
  });

  test(verifies("C54", "have the further folders that the editor names"), async () => {
    const cwd = folders.newFolder();
    const other = folders.newFolder({ "b.txt": "beside\n" });
    const { editor, agent } = await openSession(cwd);
    const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [], additionalDirectories: [other] });
    await agent.request(session.prompt, say(sessionId, `Read ${other}/b.txt`));
    expect(JSON.stringify(editor.updates)).toContain("beside");
  });
});

describe("a command", () => {
  const offered = (editor: Editor) =>
    editor.waitFor(({ sessionUpdate }) => sessionUpdate === "available_commands_update");

  test(verifies("C93", "of the user is offered, too, and becomes a prompt"), async () => {
    const text = "---\ndescription: Tidies\nargument-hint: WHAT\n---\nTidy $1.\n";
    const cwd = folders.newFolder({ ".home/commands/tidy.md": text, ".home/commands/mode.md": text });
    const { editor, ask } = await openSession(cwd);
    await offered(editor);
    const commands = editor.updates.flatMap((update) =>
      update.sessionUpdate === "available_commands_update" ? update.availableCommands : [],
    );
    expect(commands.map(({ name }) => name)).toEqual(["mode", "model", "ask", "compact", "revert", "tidy"]);
    expect(commands.at(-1)).toEqual({ name: "tidy", description: "Tidies", input: { hint: "WHAT" } });
    await ask("/tidy src");
    expect(toText(editor.updates)).not.toContain("is not a command");
    await ask("/tydi src");
    expect(toText(editor.updates)).toContain("did you mean /tidy?");
  });

  test(verifies(["C111", "C93"], "of a tool server works at once, and is offered once the server runs"), async () => {
    const server = join(import.meta.dirname, "../support/changing-server.ts");
    const s = { command: process.execPath, args: [server], env: compiledCode };
    const cwd = folders.newFolder({ ".home/config.json": JSON.stringify({ mcpServers: { s } }) });
    const { editor, ask } = await openSession(cwd);
    expect(await ask("/mcp__s__review a.ts")).toMatchObject({ stopReason: "end_turn" });
    const review = { name: "mcp__s__review", description: "Reviews a change", input: { hint: "file [focus]" } };
    await editor.waitFor(
      (update) =>
        update.sessionUpdate === "available_commands_update" &&
        update.availableCommands.some((command) => isDeepStrictEqual(command, review)),
    );
  });

  test(verifies("C55", "is offered, does what it does in a terminal, and costs no request"), async () => {
    const cwd = folders.newFolder({ "a.txt": "old\n" });
    const { editor, ask, sessionId, agent } = await openSession(cwd);
    await offered(editor);
    const commands = editor.updates.flatMap((update) =>
      update.sessionUpdate === "available_commands_update" ? update.availableCommands.map(({ name }) => name) : [],
    );
    expect(commands).toEqual(["mode", "model", "ask", "compact", "revert"]);

    await ask("/mode plan");
    expect(editor.updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "plan" });
    await ask("/mode agent");
    await ask("/compact");
    await ask("/quit");
    await ask("/compat");
    expect(toText(editor.updates)).toBe(
      "mode: plan\nmode: agent\nThe conversation is too short to summarise./quit is a command of the terminal./compat is not a command: did you mean /compact?",
    );
    await expect(ask("/mode nonsense")).rejects.toMatchObject({ code: -32_602 });
    const { sessions } = await agent.request(session.list, { cwd });
    expect(sessions).toMatchObject([{ sessionId, title: "" }]);
  });

  test(verifies("C55", "reverts, and says what to do with a file that has changed since"), async () => {
    const write = (content: string) => ({ call: { tool: "write_file", arguments: { target_file: "a.txt", content } } });
    const script = { turns: [{ events: [write("new\n")] }, { events: [{ text: "Done." }] }] };
    const cwd = folders.newFolder({ "a.txt": "old\n", "s.json": JSON.stringify(script) });
    const { editor, ask } = await openSession(cwd, ["--model", "scripted:s.json", "--sandbox", "disabled"]);
    await ask("write");
    writeFileSync(join(cwd, "a.txt"), "mine\n");
    await ask("/revert");
    expect(toText(editor.updates)).toContain("nothing was reverted");
    expect(toText(editor.updates)).toContain("/revert overwrite");
    await ask("/revert overwrite");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("old\n");
  });
});

describe("a missing key", () => {
  test(verifies("C56", "is told at the first session, with what to set, until it is there"), async () => {
    const cwd = folders.newFolder();
    const editor = await startEditor(cwd, ["--model", "anthropic/claude-sonnet-4-5"]);
    const { agent } = editor.connection;
    expect(editor.initialized.authMethods).toMatchObject([
      { id: "environment", description: expect.stringContaining("ANTHROPIC_API_KEY") as string },
    ]);
    const refused = {
      code: -32_000,
      data: { code: "AUTH_REQUIRED" },
      message: expect.stringContaining("set ANTHROPIC_API_KEY, or run sheaf login anthropic") as string,
    };
    await expect(agent.request(session.new, { cwd, mcpServers: [] })).rejects.toMatchObject(refused);
    await expect(agent.request(authenticate, { methodId: "environment" })).rejects.toMatchObject(refused);
    await expect(agent.request(authenticate, { methodId: "login-anthropic" })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('"login-anthropic" was not offered: choose one of environment') as string,
    });

    const words = ["acp", "--model", "anthropic/x", "login", "anthropic"];
    const login = await runSheaf(words, { cwd, home: join(cwd, ".home"), input: "sk-ant-test\n" });
    expect([login.code, login.stderr]).toEqual([0, ""]);
    expect(await agent.request(authenticate, { methodId: "environment" })).toEqual({});
    expect(await agent.request(session.new, { cwd, mcpServers: [] })).toHaveProperty("sessionId");
  });

  test(verifies(["C43", "C56"], "a client of cursor-agent logs in by the method that it knows"), async () => {
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [{ events: [] }] }) });
    const flags = ["--compat", "cursor-2026", "--model"];
    const ready = await startEditor(cwd, [...flags, "scripted:s.json"]);
    expect(ready.initialized.authMethods).toMatchObject([{ id: "cursor_login" }]);
    expect(await ready.connection.agent.request(authenticate, { methodId: "cursor_login" })).toEqual({});
    const { connection } = await startEditor(cwd, [...flags, "anthropic/x"]);
    await expect(connection.agent.request(authenticate, { methodId: "cursor_login" })).rejects.toMatchObject({
      code: -32_000,
      data: { code: "AUTH_REQUIRED" },
    });
  });

  test(verifies("C56", "can be typed in a terminal of an editor that opens one"), async () => {
    const cwd = folders.newFolder();
    const editor = await startEditor(cwd, [], { capabilities: { auth: { terminal: true } } });
    const methodsOffered = editor.initialized.authMethods ?? [];
    expect(methodsOffered).toContainEqual(
      expect.objectContaining({ type: "terminal", id: "login-openai", args: ["login", "openai"] }),
    );
    expect(new Set(methodsOffered.map(({ id }) => id)).size).toBe(methodsOffered.length);
  });
});
