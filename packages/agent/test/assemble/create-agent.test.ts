import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReadableStream } from "node:stream/web";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { reduce, type RunEvent, type StreamEvent } from "@sheaf/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { createAgent, type Agent, type AgentOptions, type CustomTool, type LanguageModel } from "../../src/index.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createFakeModel, end, text } from "../run/fake-ports.ts";

const workspace = mkdtempSync(join(tmpdir(), "sheaf-agent-"));
afterAll(() => rmSync(workspace, { recursive: true }));

let scripts = 0;
/** Name of a scripted model with these turns. */
function script(...turns: readonly unknown[]): string {
  const file = join(workspace, `script-${(scripts += 1)}.json`);
  writeFileSync(file, JSON.stringify({ turns }));
  return `scripted:${file}`;
}

const hello = script({ events: [{ text: "Hello." }] }, { events: [{ text: "Again." }] });

function create(options: Partial<AgentOptions> = {}): Agent {
  return createAgent({ workspace, model: hello, sandbox: "disabled", ...options });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const weather: CustomTool<{ readonly city: string }> = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => ({ city, sky: "clear" }),
};

const callWeather = (args: Record<string, unknown>) => ({
  events: [{ call: { tool: "get_weather", arguments: args } }],
});

test(verifies("C168", "a program names commands that must pass"), async () => {
  const said = { events: [{ text: "Done." }] };
  await using agent = create({ verify: ["exit 3"], model: script(said, said, said) });
  const { documents, metadata } = await agent.run("Hi").result;
  expect(documents.at(-1)).toMatchObject({ metadata: { errorCode: "VERIFY_FAILED" } });
  expect(metadata.verify).toEqual([{ command: "exit 3", passed: false, exitCode: 3, rounds: 2 }]);
  expect(() => create({ verify: [""] })).toThrow(/verify/);
});

describe("fallback models", () => {
  test(verifies("C59", "answer aloud; each run begins with its own model"), async () => {
    const failure = { error: { code: "OVERLOADED", message: "busy" } };
    const model = script({ events: [failure] }, { events: [{ text: "Back again." }] });
    await using agent = create({ model, fallbackModels: [hello] });
    const first = agent.run("Hi");
    expect((await first.result).metadata.notices).toEqual([
      {
        code: "MODEL_CHANGED",
        message: expect.stringMatching(/ answers as --fallback-model, because .* failed with OVERLOADED$/),
      },
    ]);
    const response = await agent.run("Hi", { conversation: first.conversation }).result;
    expect(JSON.stringify(response)).toContain("Back again.");
    expect(response.metadata).not.toHaveProperty("notices");
  });
});

describe("a run", () => {
  test("is its stream events, its log, its lines and its response, all from the first on, in any order", async () => {
    const run = create().run("Hi");
    const [streamed, events, result] = await Promise.all([collect(run), collect(run.events), run.result]);
    expect(result).toMatchObject({ status: "completed", id: run.responseId, conversationId: run.conversation });
    expect(result.documents).toMatchObject([{ type: "text", content: "Hello." }]);
    expect(streamed.at(-1)!.event).toBe("done");
    expect(reduce(streamed).documents).toEqual(result.documents);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
    const lines = await collect(run.format("stream-json"));
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ type: "result", is_error: false });
    expect(await collect(run.format("text"))).toEqual(["Hello.\n"]);
    expect(await collect(run)).toEqual(streamed);
  });

  test.each([
    [{}, 5000],
    [{ contextTokens: 9000 }, 9000],
  ])(verifies("R-26", "a model may ask its server for the window: with %j it is %d"), async (options, windowTokens) => {
    const model = { ...createFakeModel([[[text("Hello.")], [end()]]]), findWindow: async () => 5000 };
    const [start] = await collect(create({ model, ...options }).run("Hi").events);
    expect(start).toMatchObject({ type: "run_start", context: { windowTokens } });
  });

  test("ends when nobody reads it, and when a reader goes away", async () => {
    const agent = create();
    const run = agent.run("Hi");
    for await (const event of run.events) if (event.type === "run_start") break;
    await agent.close();
    expect((await run.result).status).toBe("completed");
  });

  test("goes on with a conversation", async () => {
    const agent = create();
    const first = agent.run("Hi");
    await first.result;
    const second = agent.run("Go on", { conversation: first.conversation });
    expect((await second.result).documents).toMatchObject([{ content: "Again." }]);
    expect(second.conversation).toBe(first.conversation);
  });

  test("that fails resolves, and its last document says why", async () => {
    const run = create({ model: `scripted:${join(workspace, "missing.json")}` }).run("Hi");
    const { status, documents } = await run.result;
    expect(status).toBe("error");
    expect(documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: "CONFIG_INVALID" } });
    expect((await collect(run.events)).map(({ type }) => type)).toEqual(["run_start", "run_end"]);
  });

  test.each([["before it begins"], ["while the model answers"]])("is cancelled by its signal %s", async (moment) => {
    const controller = new AbortController();
    const model = createFakeModel([[[text("Well")], "hang"]]);
    if (moment === "before it begins") controller.abort();
    const run = create({ model }).run("Hi", { signal: controller.signal });
    for await (const event of run.events) if (event.type === "text_delta") controller.abort();
    const { status, documents, metadata } = await run.result;
    expect([status, metadata.finishReason]).toEqual(["error", "cancelled"]);
    expect(JSON.stringify(documents)).toContain("cancelled by the program");
  });

  test("has a time limit", async () => {
    const model = createFakeModel([["hang"]]);
    const { documents } = await create({ model, limits: { timeoutMs: 100 } }).run("Hi").result;
    expect(documents.at(-1)).toMatchObject({
      content: "the run took longer than 0.1 s: raise limits.timeoutMs",
      metadata: { errorCode: "BUDGET_TIME" },
    });
  });
});

describe("custom tools", () => {
  const run = async (tool: CustomTool, args: Record<string, unknown>, options: Partial<AgentOptions> = {}) => {
    const model = script(callWeather(args), { events: [{ text: "Done." }] });
    const events = await collect(create({ model, tools: [tool], ...options }).run("Weather?").events);
    return events.find((event): event is Extract<RunEvent, { type: "tool_result" }> => event.type === "tool_result")!;
  };

  test("get checked arguments, and give values to the model", async () => {
    const result = await run(weather, { city: "Oslo" });
    expect(result).toMatchObject({ status: "success", output: '{"city":"Oslo","sky":"clear"}' });
  });

  test("do not see wrong arguments", async () => {
    const result = await run({ ...weather, run: () => expect.unreachable() }, { city: 7 });
    expect(result.error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "the arguments of get_weather are wrong: /city must be string",
    });
  });

  test("may fail: the model gets the error, and the run goes on", async () => {
    const fail = (): never => {
      throw new Error("the station is closed");
    };
    const result = await run({ ...weather, run: fail }, { city: "Oslo" });
    expect(result.error?.message).toBe("get_weather failed: the station is closed");
  });

  test("that need approval run by a rule or with the approver's permission only", async () => {
    const tool = { ...weather, needsApproval: true };
    expect((await run(tool, { city: "Oslo" })).status).toBe("rejected");
    const permissions = { allow: ["Mcp(program:get_weather)"] };
    expect((await run(tool, { city: "Oslo" }, { permissions })).status).toBe("success");
    const asked: string[] = [];
    const approver: AgentOptions["approver"] = {
      expiresAfterMs: 1000,
      async ask({ options, title }) {
        asked.push(title);
        return { optionId: options.find(({ kind }) => kind === "allow_once")!.id, by: "test" };
      },
    };
    expect((await run(tool, { city: "Oslo" }, { approver })).status).toBe("success");
    expect(asked).toHaveLength(1);
  });

  test("that only read are offered in every mode, others in those that may change something", async () => {
    const offered = async (tool: CustomTool) => {
      const model = createFakeModel([[[text("Hi."), end()]]]);
      await create({ model, mode: "ask", tools: [tool] }).run("Hi").result;
      return model.requests[0]!.tools.some(({ name }) => name === tool.name);
    };
    expect([await offered(weather), await offered({ ...weather, readOnly: true })]).toEqual([false, true]);
  });

  test.each([
    [undefined, "city.txt", "rejected"],
    [["city"], "city.txt", "success"],
    [["city"], "./.env", "rejected"],
    [["city"], join(workspace, ".env"), "rejected"],
  ] as const)(
    verifies("S-243", "that only read, with the paths %j, under a rule, on %s: %s"),
    async (paths, city, status) => {
      const permissions = { deny: [`Read(${workspace}/.env)`] };
      const tool: CustomTool = { ...weather, readOnly: true, ...(paths && { paths }) };
      expect(await run(tool, { city }, { permissions })).toMatchObject({ status });
    },
  );
});

describe("schemas of a program", () => {
  const endless = { type: "object", properties: { city: { type: "string", pattern: "^(a+)+$" } } };

  test.each<[Partial<AgentOptions>, RegExp]>([
    [{ outputSchema: { type: "thing" } }, /outputSchema is not a JSON Schema of draft 2020-12 .*: correct it/],
    [{ outputSchema: { $ref: "#" } }, /outputSchema refers to itself without end/],
    [
      { tools: [{ ...weather, parameters: { type: "object", $ref: "#/nowhere" } }] },
      /the schema of the tool "get_weather" is not a JSON Schema of draft 2020-12 .*#\/nowhere/,
    ],
  ])(
    verifies("S-89", "one that cannot be used ends every run before the model is called: %j"),
    async (options, message) => {
      const model = createFakeModel([]);
      const agent = create({ model, ...options });
      for (let run = 0; run < 2; run += 1) {
        const { documents } = await agent.run("Hi").result;
        expect(documents.at(-1)).toMatchObject({ type: "error", metadata: { errorCode: "USAGE" } });
        expect(documents.at(-1)!.content).toMatch(message);
      }
      expect(model.requests).toEqual([]);
    },
  );

  test(
    verifies(["S-89", "S-72"], "a pattern that never ends fails the call; the process works meanwhile"),
    async () => {
      let ticks = 0;
      const timer = setInterval(() => (ticks += 1), 20);
      const model = script(callWeather({ city: `${"a".repeat(40)}!` }), callWeather({ city: "aa" }), {
        events: [{ text: "Done." }],
      });
      const events = await collect(create({ model, tools: [{ ...weather, parameters: endless }] }).run("Hi").events);
      clearInterval(timer);
      const results = events.filter((event) => event.type === "tool_result");
      expect(results.map(({ status }) => status)).toEqual(["error", "success"]);
      expect(results[0]!.error?.message).toContain('takes longer than 2 s to apply, in the pattern "^(a+)+$"');
      expect(ticks).toBeGreaterThan(5);
    },
  );

  test(verifies("S-89", "the end of a run ends its checks"), async () => {
    const controller = new AbortController();
    const model = createFakeModel([[[text(JSON.stringify(`${"a".repeat(40)}!`)), end()]]]);
    const agent = create({ model, outputSchema: { type: "string", pattern: "^(a+)+$" } });
    const run = agent.run("Hi", { signal: controller.signal });
    for await (const event of run.events) if (event.type === "turn_end") controller.abort();
    const { documents } = await run.result;
    expect(documents.at(-1)!.content).toBe("cancelled by the program");
  });
});

describe("what an agent is made of", () => {
  test("any language model of the AI SDK", async () => {
    const finish = { unified: "stop", raw: "stop" } as const;
    const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
    const usage = { inputTokens: count, outputTokens: { total: 1, text: 1, reasoning: 0 } };
    const model = {
      specificationVersion: "v4",
      provider: "toy",
      modelId: "one",
      supportedUrls: {},
      doGenerate: () => expect.unreachable(),
      doStream: async () => ({
        stream: ReadableStream.from([
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "From the SDK." },
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: finish, usage },
        ]),
      }),
    } as unknown as LanguageModelV4;
    const { documents, model: id } = await create({ model }).run("Hi").result;
    expect([id, documents]).toMatchObject(["one", [{ content: "From the SDK." }]]);
    const old: LanguageModel = { ...model, specificationVersion: "v1" };
    const failed = await create({ model: old }).run("Hi").result;
    expect(failed.documents.at(-1)!.content).toMatch(/version v1 of the AI SDK's interface: use v2, v3 or v4/);
  });

  test(verifies("C46", "the system prompt and its end, and a schema for the answer"), async () => {
    const model = createFakeModel([[[text('{"n":1}'), end()]]]);
    const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const prompts = { systemPrompt: "You review code.", appendSystemPrompt: "Answer in one line." };
    const agent = create({ model, ...prompts, outputSchema });
    const events = await collect(agent.run("Hi").events);
    expect(model.requests[0]!.system).toMatch(/^You review code\.\nThe workspace is [^]*Answer in one line\.$/);
    expect(model.requests[0]!.system).not.toContain("You are Sheaf");
    expect(events.at(-1)).toMatchObject({ type: "run_end", output: { n: 1 } });
  });

  test(verifies("C46", "a choice of tools, as the flags make it"), async () => {
    const names = async (options: Partial<AgentOptions>): Promise<readonly string[]> => {
      const model = createFakeModel([[[text("Hi."), end()]]]);
      await create({ model, ...options }).run("Hi").result;
      return model.requests[0]!.tools.map(({ name }) => name);
    };
    expect(await names({ tools: ["read_*", weather], excludeTools: ["read_terminal"] })).toEqual([
      "read_file",
      "get_weather",
    ]);
    expect(await names({ tools: [weather], excludeTools: ["*"] })).toEqual([]);
    const all = await names({ tools: [weather] });
    expect(all).toEqual([...(await names({})), "get_weather"]);
  });

  test(verifies("C46", "rules by the names of tools"), async () => {
    const model = script(callWeather({ city: "Oslo" }), { events: [{ text: "Done." }] });
    const asked = { ...weather, needsApproval: true };
    const statusOf = async (allowedTools: readonly string[]): Promise<unknown> => {
      const events = await collect(create({ model, tools: [asked], allowedTools }).run("Weather?").events);
      return events.find((event) => event.type === "tool_result")?.status;
    };
    expect([await statusOf([]), await statusOf(["Shell(ls)", "get_weather"])]).toEqual(["rejected", "success"]);
  });

  test(verifies(["S-96", "R-26"], "commands after edits, and the length of a conversation"), async () => {
    const edit = { tool: "write_file", arguments: { target_file: "a.txt", contents: "a\n" } };
    const model = script({ events: [{ call: edit }] }, { events: [{ text: "Done." }] });
    const agent = create({
      model,
      afterEdit: [{ glob: "*.txt", command: "echo checked {file}" }],
      allowedTools: ["run_terminal_cmd"],
      contextTokens: 50_000,
    });
    const events = await collect(agent.run("Write it").events);
    expect(events[0]).toMatchObject({ context: { windowTokens: 50_000 } });
    expect(JSON.stringify(events.find((event) => event.type === "tool_result"))).toContain("checked");
  });

  test("a file for conversations, which another agent goes on with", async () => {
    const store = join(workspace, "conversations", "sheaf.db");
    const first = create({ store });
    const { conversation, result } = first.run("Hi");
    await result;
    await first.close();
    await using second = create({ store });
    const streamed: StreamEvent[] = await collect(second.run("Go on", { conversation }));
    expect(reduce(streamed).documents).toMatchObject([{ content: "Again." }]);
  });

  test("nothing of the process's environment, unless it is given", async () => {
    const command = { call: { tool: "run_terminal_cmd", arguments: { command: "echo $SECRET_OF_TEST:$PATH" } } };
    const model = script({ events: [command] }, { events: [{ text: "Done." }] });
    process.env.SECRET_OF_TEST = "x";
    const { documents } = await create({ model, permissions: { force: true } }).run("Hi").result;
    expect(documents[0]).toMatchObject({ type: "terminal_command" });
    expect(JSON.stringify(documents[0])).toContain(":/usr/local/bin:/usr/bin:/bin");
  });
});

describe("a wrong option is thrown, with its value and what to do", () => {
  const tool = (changes: object) => ({ tools: [{ ...weather, ...changes }] });
  test.each<[unknown, RegExp]>([
    [{ modle: "offline" }, /the option "modle" is unknown: did you mean "mode" or "model"\?$/],
    [
      { workspace: "/nowhere/at/all" },
      /the workspace \/nowhere\/at\/all cannot be opened \(ENOENT\): name a folder that/,
    ],
    [{ model: 7 }, /model is 7: give a name such as/],
    [{ model: "nothing" }, /the model "nothing" is unknown: use one of offline/],
    [{ model: "anthropic/claude" }, /the model "anthropic\/claude" needs a key of anthropic/],
    [{ mode: "edit" }, /mode is "edit": use one of agent, plan, ask, debug$/],
    [{ sandbox: false }, /sandbox is false: use one of enabled, disabled, container, container=root$/],
    [{ systemPrompt: " " }, /systemPrompt is empty: write the instructions, or leave it out$/],
    [
      { afterEdit: [{ glob: "*.ts", command: "prettier '{file}'" }] },
      /afterEdit\[0\]\.command: expected a command with/,
    ],
    [{ contextTokens: 10 }, /contextTokens is 10: use a whole number of at least 1000$/],
    [{ tools: ["read_fil"] }, /tools: the tool "read_fil" is unknown: did you mean read_file/],
    [{ excludeTools: "read_file" }, /excludeTools is "read_file": give a list$/],
    [{ allowedTools: ["Nonsense"] }, /allowedTools: the tool "Nonsense" is unknown/],
    [{ tools: [{ ...weather, name: "web_search" }], webSearch: true }, /own tool has the name "web_search"/],
    [{ limits: { maxTurns: 0 } }, /limits\.maxTurns is 0: use a number above 0$/],
    [{ permissions: { allow: ["Nonsense("] } }, /Nonsense/],

    [tool({ name: "a b" }), /tools\[0\]\.name "a b" is not valid: use 1 to 64 letters/],
    [tool({ name: "read_file" }), /"read_file" is already the name of a tool of Sheaf/],
    [
      tool({ parameters: { type: "string" } }),
      /the parameters of the tool "get_weather" are not the schema of an object/,
    ],
    [{ tools: [weather, weather] }, /"get_weather" appears twice/],
    [tool({ paths: ["city"] }), /"get_weather" has paths but is not readOnly, or needs approval: leave paths out/],
    [
      tool({ readOnly: true, paths: ["town"] }),
      /the paths of the tool "get_weather" are not names of its arguments: use some of city/,
    ],
  ])("%j", (options, message) => {
    expect(() => create(options as Partial<AgentOptions>)).toThrow(message);
  });

  test("of a run, too", () => {
    expect(() => create().run(" ")).toThrow(/the prompt is " ": write a task for the agent/);
    expect(() => create().run("Hi", { conversation: "7" })).toThrow(/conversation is "7": give the "conversation" of/);
    expect(() =>
      create()
        .run("Hi")
        .format("xml" as "json"),
    ).toThrow(/the format "xml" is unknown: use one of text/);
  });
});
