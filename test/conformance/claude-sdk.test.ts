/** The Agent SDK of Claude Code as it comes from the registry, with Sheaf in place of its executable. */
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { installClients, installNewest } from "../support/clients.ts";
import { describeWhere, skipIfMissing, testDeep } from "../support/describe-where.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the tests read of a message of the SDK. */
interface Message {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id: string;
  readonly uuid?: string;
  readonly result?: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly message: { readonly content: readonly [Fields] };
  readonly event: {
    readonly type: string;
    readonly delta?: Readonly<Record<string, string>>;
    readonly content_block: Fields;
  };
}

interface Query extends AsyncIterable<Message> {
  interrupt(): Promise<void>;
  setPermissionMode(mode: string): Promise<void>;
  setModel(model: string): Promise<void>;
}

/** What they call: its types are another's, and are not copied. */
interface Sdk {
  query(order: object): Query;
  tool(...parts: readonly unknown[]): unknown;
  createSdkMcpServer(server: object): unknown;
}

const folders = createTestFolder();
const clients = folders.newFolder();
const missing = await installClients(clients);
const sdkFile = join(clients, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs");
const sdk = (missing ? {} : await import(pathToFileURL(sdkFile).href)) as Sdk;
const { z } = (missing ? {} : createRequire(join(clients, "x.js"))("zod")) as { z: { number(): unknown } };

const bin = folders.newFolder();
const home = folders.newFolder();
await runSheaf(["install-alias", bin, "--as", "claude"], { cwd: bin, home });
const claude = join(bin, "claude");

const call = (tool: string, args: Fields) => ({ call: { tool, arguments: args } });
const touch = [
  {
    events: [{ reasoning: "Hm." }, { text: ["I ", "look."] }, call("run_terminal_cmd", { command: "touch made.txt" })],
  },
  { events: [{ text: ["Done ", "now."] }] },
];
interface Talk {
  readonly messages: readonly Message[];
  readonly result: Message;
  readonly made: boolean;
  readonly stderr: string;
  readonly asked: number;
}

/** Runs one prompt, or several, through the SDK; `onMessage` sees each message with the query. */
async function talk(
  turns: readonly unknown[],
  { env: further, ...options }: Fields & { readonly env?: Readonly<Record<string, string>> } = {},
  {
    prompt = "go",
    onMessage,
    by = sdk,
  }: {
    readonly prompt?: unknown;
    readonly onMessage?: (message: Message, query: Query) => unknown;
    readonly by?: Sdk;
  } = {},
): Promise<Talk> {
  const cwd = folders.newFolder({ "a.txt": "a", "s.json": JSON.stringify({ turns, after: "repeat_last" }) });
  const messages: Message[] = [];
  let stderr = "";
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SHEAF_HOME: join(home, ".sheaf"),
    SHEAF_MODEL: `scripted:${join(cwd, "s.json")}`,
  };
  const query = by.query({
    prompt,
    options: {
      cwd,
      pathToClaudeCodeExecutable: claude,
      stderr: (text: string) => void (stderr += text),
      ...options,
      env: { ...env, ...further },
    },
  });
  try {
    for await (const message of query) {
      messages.push(message);
      await onMessage?.(message, query);
    }
  } catch (error) {
    // The SDK also throws after a result that is an error.
    if (!messages.some(({ type }) => type === "result")) throw error;
  }
  const result = messages.findLast(({ type }) => type === "result")!;
  const asked = messages.filter(({ type }) => type === "assistant").length;
  return { messages, result, made: readdirSync(cwd).includes("made.txt"), stderr, asked };
}

const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true };
const hookOn = (event: string, answer: unknown, matcher?: string) => ({
  hooks: { [event]: [{ ...(matcher && { matcher }), hooks: [async () => answer] }] },
});
const denial = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" } };
const fail = async (): Promise<never> => Promise.reject(new Error("broken"));

describeWhere("the Agent SDK", missing, () => {
  test(verifies("C202", "a call is asked about in the names of Claude Code, and runs as it is answered"), async () => {
    const asked: unknown[] = [];
    const canUseTool = async (name: string, input: Fields) => {
      asked.push([name, input]);
      return { behavior: "allow", updatedInput: input };
    };
    const { made, result } = await talk(touch, { canUseTool });
    expect(asked).toEqual([["Bash", { command: "touch made.txt" }]]);
    expect([made, result.subtype, result.result]).toEqual([true, "success", "Done now."]);
  });

  test(verifies("C202", "a changed call runs changed"), async () => {
    const canUseTool = async () => ({ behavior: "allow", updatedInput: { command: "true" } });
    expect(await talk(touch, { canUseTool })).toMatchObject({ made: false, result: { permission_denials: [] } });
  });

  test.each([
    ["a callback that denies", { canUseTool: async () => ({ behavior: "deny", message: "no" }) }, false],
    ["a callback that fails", { canUseTool: fail }, false],
    ["a program that answers no questions", {}, false],
    ["a rule for another command", { allowedTools: ["Bash(ls:*)"] }, false],
    ["a rule for it", { allowedTools: ["Bash(touch:*)"] }, true],
    ["a rule and a denial", { allowedTools: ["Bash"], disallowedTools: ["Bash(touch:*)"] }, false],
    ["the tool left out", { ...bypass, disallowedTools: ["Bash"] }, false],
    ["another list of tools", { ...bypass, tools: ["Read"] }, false],
    ["plan mode", { permissionMode: "plan" }, false],
    ["accepted edits", { permissionMode: "acceptEdits" }, false],
    ["no permissions", bypass, true],
    ["a hook that denies", { ...bypass, ...hookOn("PreToolUse", denial, "Bash") }, false],
    ["a hook for another tool", { ...bypass, ...hookOn("PreToolUse", denial, "Read") }, true],
    ["a hook that fails", { ...bypass, hooks: { PreToolUse: [{ hooks: [fail] }] } }, false],
  ])(verifies(["C201", "C203"], "with %s the command runs: %3$s"), async (_name, options, runs) => {
    const { made, result } = await talk(touch, options);
    expect([made, result.subtype]).toEqual([runs, "success"]);
  });

  test.each([
    ["PreToolUse with a matcher that is none", hookOn("PreToolUse", denial, "(")],
    ["an event that may refuse", hookOn("PermissionRequest", {})],
    ["a denial without a rule here", { disallowedTools: ["Bash(a * b)"], extraArgs: {} }],
  ])(verifies("C203", "%s ends each run before any model is asked"), async (_name, options) => {
    const run = talk(touch, { ...bypass, ...options });
    const { made, asked, result } = await run.catch(() => ({
      made: false,
      asked: 0,
      result: { subtype: "error_during_execution" },
    }));
    expect([made, asked, result.subtype]).toEqual([false, 0, "error_during_execution"]);
  });

  test(verifies("C203", "an event that only watches is left out, aloud"), async () => {
    const { made, stderr } = await talk(touch, { ...bypass, ...hookOn("SubagentStop", {}) });
    expect(made).toBe(true);
    expect(stderr).toContain("hooks at SubagentStop do not run");
  });

  test.each([
    ["allowed by a rule", { allowedTools: ["mcp__my_calc__add"] }, "3"],
    [
      "allowed by a person",
      { canUseTool: async (_: string, input: Fields) => ({ behavior: "allow", updatedInput: input }) },
      "3",
    ],
    ["denied", { canUseTool: async () => ({ behavior: "deny", message: "no" }) }, "the user refused this call: no"],
  ])(verifies("C202", "a tool inside the program, %s"), async (_name, options, output) => {
    const add = async ({ a, b }: { a: number; b: number }) => ({ content: [{ type: "text", text: String(a + b) }] });
    const tools = [sdk.tool("add", "Adds.", { a: z.number(), b: z.number() }, add)];
    const my_calc = sdk.createSdkMcpServer({ name: "my_calc", version: "1.0.0", tools });
    const turns = [{ events: [call("mcp__my_calc__add", { a: 1, b: 2 })] }, { events: [{ text: "Three." }] }];
    const { messages, result } = await talk(turns, { mcpServers: { my_calc }, ...options });
    expect(result.result).toBe("Three.");
    expect(messages.find(({ type }) => type === "user")?.message.content[0]["content"]).toBe(output);
  });

  test(verifies(["C202", "C14"], "several messages, another model, and a session that is resumed"), async () => {
    const prompt = (async function* () {
      for (const content of ["one", "two"]) {
        yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
        await wait(200);
      }
    })();
    const turns = [
      { events: [{ text: "First." }] },
      { events: [{ text: "Second." }] },
      { events: [{ text: "Third." }] },
    ];
    const { messages } = await talk(turns, {}, { prompt });
    const results = messages.filter(({ type }) => type === "result");
    expect(results.map(({ result }) => result)).toEqual(["First.", "Second."]);
    const resume = results[0]!.session_id;
    const again = await talk(turns, { resume });
    expect([again.result.result, again.result.session_id]).toEqual(["Third.", resume]);
  });

  test(verifies("C202", "interrupt ends the run, and the session goes on"), async () => {
    const turns = [
      { events: [{ text: "begin" }, { wait_ms: 60_000 }, { text: "end" }] },
      { events: [{ text: "Next." }] },
    ];
    const interrupted = Promise.withResolvers<void>();
    const prompt = (async function* () {
      yield { type: "user", message: { role: "user", content: "one" }, parent_tool_use_id: null };
      await interrupted.promise;
      yield { type: "user", message: { role: "user", content: "two" }, parent_tool_use_id: null };
    })();
    const onMessage = async ({ type, event }: Message, query: Query): Promise<void> => {
      if (type !== "stream_event" || event.type !== "content_block_delta" || event.delta?.["text"] !== "begin") return;
      await query.interrupt();
      interrupted.resolve();
    };
    const { messages } = await talk(turns, { includePartialMessages: true }, { prompt, onMessage });
    const results = messages.filter(({ type }) => type === "result");
    expect(results.map(({ subtype }) => subtype)).toEqual(["error_during_execution", "success"]);
  });

  test(verifies("C202", "a mode and a model that the program sets apply to the next message"), async () => {
    const ended = Promise.withResolvers<void>();
    const prompt = (async function* () {
      yield { type: "user", message: { role: "user", content: "one" }, parent_tool_use_id: null };
      await ended.promise;
      yield { type: "user", message: { role: "user", content: "two" }, parent_tool_use_id: null };
    })();
    let results = 0;
    const onMessage = async ({ type, subtype }: Message, query: Query): Promise<void> => {
      if (subtype === "init" && results === 0) {
        await expect(query.setPermissionMode("plan")).rejects.toThrow(/interrupt it first/);
      }
      if (type !== "result" || (results += 1) > 1) return;
      await query.setPermissionMode("plan");
      await query.setModel("offline");
      ended.resolve();
    };
    const turns = [{ events: [{ wait_ms: 300 }, { text: "One." }] }];
    const { messages } = await talk(turns, bypass, { prompt, onMessage });
    const starts = messages.filter(({ subtype }) => subtype === "init");
    expect(starts.map(({ permissionMode }) => permissionMode)).toEqual(["bypassPermissions", "plan"]);
    expect(starts[0]?.model).not.toBe(starts[1]?.model);
  });

  test(verifies("C204", "budgets and schemas end with the subtypes of that program"), async () => {
    const look = [{ events: [call("read_file", { target_file: "a.txt" })] }, { events: [call("list_dir", {})] }];
    expect((await talk(look, { maxTurns: 1 })).result.subtype).toBe("error_max_turns");
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const outputFormat = { type: "json_schema", schema };
    const { result } = await talk([{ events: [{ text: '{"n":1}' }] }], { outputFormat });
    expect(result).toMatchObject({ subtype: "success", structured_output: { n: 1 } });
    const failed = await talk([{ events: [{ text: "none" }] }], { outputFormat });
    expect(failed.result.subtype).toBe("error_max_structured_output_retries");
  });

  test(verifies("C204", "partial messages add up to the whole ones"), async () => {
    const { messages } = await talk(touch, { ...bypass, includePartialMessages: true });
    const blocks: Record<string, unknown>[] = [];
    for (const { type, event } of messages) {
      if (type !== "stream_event") continue;
      if (event.type === "content_block_start") blocks.push({ ...event.content_block, input: "" });
      if (event.type !== "content_block_delta") continue;
      const block = blocks.at(-1)!;
      for (const [name, text] of Object.entries(event.delta ?? {})) {
        const field = name === "partial_json" ? "input" : name;
        if (field !== "type") block[field] = `${String(block[field])}${text}`;
      }
    }
    const rebuilt = blocks.map(({ input, ...block }) =>
      input === "" ? block : { ...block, input: JSON.parse(String(input)) as unknown },
    );
    const whole = messages.filter(({ type }) => type === "assistant").map(({ message }) => message.content[0]);
    expect(rebuilt).toEqual(whole);
    expect(whole.map((block) => block["type"])).toEqual(["thinking", "text", "tool_use", "text"]);
    const uuids = messages.filter(({ uuid }) => uuid).map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);
  });

  test(verifies(["C201", "C205", "C15"], "the sandbox stays on, and a subscription's token is not used"), async () => {
    const outside = join(home, "outside.txt");
    const turns = [
      { events: [call("run_terminal_cmd", { command: `env; touch ${outside}` })] },
      { events: [{ text: "Done." }] },
    ];
    const token = "sk-ant-oat01-0123456789";
    const { messages, stderr } = await talk(turns, { ...bypass, env: { CLAUDE_CODE_OAUTH_TOKEN: token } });
    expect(existsSync(outside)).toBe(false);
    expect(JSON.stringify(messages)).not.toContain(token);
    expect(stderr).toMatch(/leaves the sandbox on[\s\S]*CLAUDE_CODE_OAUTH_TOKEN is a subscription's/);
  });
});

testDeep("the newest Agent SDK, and a provider of the AI SDK on it, run too", async () => {
  const folder = folders.newFolder();
  skipIfMissing(await installNewest(folder, ["@anthropic-ai/claude-agent-sdk", "ai-sdk-provider-claude-code", "zod"]));
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, "node_modules", path)).href);
  const by = (await load("@anthropic-ai/claude-agent-sdk/sdk.mjs")) as Sdk;
  const { result, made } = await talk(touch, bypass, { by });
  expect([result.result, made]).toEqual(["Done now.", true]);

  const { createClaudeCode } = (await load("ai-sdk-provider-claude-code/dist/index.js")) as {
    createClaudeCode: () => (
      id: string,
      options: object,
    ) => { doGenerate: (options: object) => Promise<{ content: Fields[] }> };
  };
  const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [{ events: [{ text: "Hello." }] }] }) });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SHEAF_HOME: join(home, ".sheaf"),
    SHEAF_MODEL: `scripted:${join(cwd, "s.json")}`,
  };
  const model = createClaudeCode()("sonnet", { pathToClaudeCodeExecutable: claude, cwd, env, logger: false });
  const prompt = [{ role: "user", content: [{ type: "text", text: "Go" }] }];
  const { content } = await model.doGenerate({ prompt });
  expect(content.map(({ text }) => text)).toContain("Hello.");
});
