/** Subagents: their log, formats, budgets and permissions, with scripted models (C96 to C99). */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatResponse, OwnEventBody, RunEvent, ToolCallMetadata } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { afterAll, describe, expect, test } from "vitest";
import { createAgent, type AgentOptions } from "../../src/index.ts";
import { findAgentKinds, parseAgentKind } from "../../src/run/agents/agent-kinds.ts";
import { chooseAgents } from "../../src/assemble/agent-models.ts";
import { toAgentModels } from "../../src/assemble/program-model.ts";
import { createScriptedModelFrom } from "@sheaf/models/scripted";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import { verifies } from "../../../../test/support/verifies.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-subagents-"));
afterAll(() => rmSync(folder, { recursive: true }));

let workspaces = 0;
function newWorkspace(): string {
  const workspace = join(folder, `w${(workspaces += 1)}`);
  mkdirSync(workspace);
  writeFileSync(join(workspace, "a.txt"), "a needle\n");
  return workspace;
}

const say = (text: string) => ({ events: [{ text }] });
const use = (tool: string, args: object) => ({ call: { tool, arguments: args } });
const ask = (kind: string, task = `the task of ${kind}`) => use("run_agent", { kind, task });
const read = use("read_file", { target_file: "a.txt" });

/** The run, then the turns of its subagents. Requests are noted. */
function script(turns: readonly object[], agents: Record<string, readonly object[]>) {
  const requests: ModelRequest[] = [];
  const inner = createScriptedModelFrom({ turns, agents }, "test");
  const model: Model = {
    ...inner,
    stream(request, signal) {
      requests.push(request);
      return inner.stream(request, signal);
    },
  };
  return { model, requests };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function run(model: Model, options: Partial<AgentOptions> = {}) {
  const workspace = options.workspace ?? newWorkspace();
  await using agent = createAgent({ workspace, model, sandbox: "disabled", agents: true, ...options });
  const started = agent.run("Do it");
  const stream = await collect(started);
  expect(verify(stream)).toBeUndefined();
  const events: RunEvent[] = await collect(started.events);
  const format = async (name: Parameters<typeof started.format>[0]) => (await collect(started.format(name))).join("");
  return { response: await started.result, events, format, workspace, stream };
}

interface Line {
  readonly subtype?: string;
  readonly agent?: { readonly name: string };
  readonly tool_call?: { readonly taskToolCall?: { readonly result: { readonly success: object } } };
}

const ofAgents = (events: readonly RunEvent[]) => events.filter((event) => event.type === "agent_event");
const inner = (events: readonly RunEvent[]): OwnEventBody[] => ofAgents(events).map(({ event }) => event);
const resultsOf = (events: readonly RunEvent[]) => events.filter((event) => event.type === "tool_result");
const documentsOf = ({ documents }: ChatResponse, type: string) =>
  documents.filter((document) => document.type === type);

const three = () =>
  script([{ events: [{ text: "I split it." }, ask("search"), ask("plan"), ask("review")] }, say("All reported.")], {
    search: [{ events: [{ text: "Looking." }, read] }, say("a.txt:1")],
    plan: [{ events: [read] }, say("One step.")],
    review: [{ events: [read] }, say("No faults.")],
  });

describe("subagents", () => {
  test(verifies("C96", "do not exist unless the user wants them"), async () => {
    const { model, requests } = script([say("Hi.")], {});
    await run(model, { agents: false });
    await run(model);
    const [without, having] = requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(without).not.toContain("run_agent");
    expect(having).toEqual([...without!, "run_agent"]);
    const [one, other] = requests.map(({ system, messages }) => ({ system, messages }));
    expect(JSON.stringify(other!.messages)).toBe(JSON.stringify(one!.messages));
  });

  test(verifies("C96", "see their task alone, and their last text is the result"), async () => {
    const { model, requests } = three();
    const { events, response } = await run(model);
    const first = requests.find(({ agent }) => agent === "search")!;
    expect(first.messages.at(-1)).toEqual({ role: "user", text: "the task of search" });
    expect(JSON.stringify(first.messages)).toMatch(/^(?!.*Do it)(?!.*Sandbox:).*- Date:.*- Mode: ask. You only read/);
    const names = first.tools.map(({ name }) => name);
    expect(names).toContain("grep_search");
    for (const name of ["run_agent", "write_file", "run_terminal_cmd", "ask_question", "todo_write"]) {
      expect(names).not.toContain(name);
    }
    expect(
      resultsOf(events)
        .map(({ output }) => output)
        .toSorted(),
    ).toEqual(["No faults.", "One step.", "a.txt:1"]);
    // The history of the run has the reports, and nothing else of the subagents.
    const last = requests.findLast(({ agent }) => agent === undefined)!;
    expect(last.messages.filter(({ role }) => role === "tool")).toHaveLength(3);
    expect(documentsOf(response, "text").map(({ content }) => content)).toEqual(["I split it.", "All reported."]);
  });

  test(verifies(["C97", "N74", "N75"], "are named in every format; only the run's words are the answer"), async () => {
    const { events, response, format } = await run(three().model);
    for (const callId of new Set(ofAgents(events).map((event) => event.callId))) {
      const own = ofAgents(events).filter((event) => event.callId === callId);
      expect([own[0]!.event.type, own.at(-1)!.event.type]).toEqual(["run_start", "run_end"]);
    }
    const calls = documentsOf(response, "tool_call").map(({ metadata }) => metadata as Record<string, unknown>);
    const outer = calls.filter(({ toolName }) => toolName === "run_agent");
    const nested = calls.filter(({ toolName }) => toolName === "read_file").map(({ agent }) => agent);
    expect(nested).toHaveLength(3);
    for (const [index, name] of ["search", "plan", "review"].entries()) {
      expect(nested).toContainEqual({ id: outer[index]!.toolCallId, name });
    }
    expect(outer[0]).toMatchObject({ draftOutput: "Looking.\n\na.txt:1\n\n", result: { data: "a.txt:1" } });

    const lines = (await format("stream-json"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    expect(lines.at(-1)).toMatchObject({ result: "I split it.All reported.", num_turns: 8 });
    const task = lines.find(({ tool_call: call, subtype }) => call?.taskToolCall && subtype === "completed");
    expect(Object.keys(task!.tool_call!.taskToolCall!.result.success)).toEqual([
      "conversationSteps",
      "agentId",
      "isBackground",
      "durationMs",
    ]);
    expect(lines.flatMap(({ agent }) => agent?.name ?? []).toSorted()).toEqual(
      ["plan", "review", "search"].flatMap((name) => [name, name]),
    );
    expect(await format("text")).toMatch(/^ {2}search: Read file$/m);
    expect(await format("text")).toMatch(/^Ran subagent plan$/m);
    expect(JSON.parse(await format("json"))).toMatchObject({ result: "I split it.\n\nAll reported.", num_turns: 8 });
  });

  test(verifies("N76", "count for the response"), async () => {
    const { response, events } = await run(three().model);
    expect(response.metadata).toMatchObject({ turnCount: 8, toolCallCount: 6, actionCount: 6 });
    const ends = [...events, ...inner(events)].filter((event) => event.type === "turn_end");
    expect(ends).toHaveLength(8);
    expect(response.usage.promptTokens).toBe(ends.reduce((sum, { usage }) => sum + usage.promptTokens, 0));
  });

  test(verifies("C99", "that only read run at once"), async () => {
    const { events } = await run(three().model);
    const types = ofAgents(events).map(({ event }) => event.type);
    expect(types.lastIndexOf("run_start")).toBeLessThan(types.indexOf("run_end"));
  });

  test(verifies(["C99", "C98"], "that may write run alone, in their turn"), async () => {
    const workspace = newWorkspace();
    mkdirSync(join(workspace, ".sheaf/agents"), { recursive: true });
    writeFileSync(join(workspace, ".sheaf/agents/fixer.md"), "---\ndescription: fixes\n---\nFix it.");
    const { model } = script([{ events: [ask("search"), ask("fixer"), ask("review")] }, say("Done.")], {
      search: [say("found")],
      fixer: [{ events: [use("write_file", { target_file: "b.txt", content: "new" })] }, say("fixed")],
      review: [{ events: [use("read_file", { target_file: "b.txt" })] }, say("good")],
    });
    const { events } = await run(model, { workspace, trusted: true });
    expect(resultsOf(events).map(({ output }) => output)).toEqual(["found", "fixed", "good"]);
    const ends = ofAgents(events).filter(({ event }) => ["run_start", "run_end"].includes(event.type));
    expect(ends.map(({ event }) => event.type)).toEqual([0, 1, 2].flatMap(() => ["run_start", "run_end"]));
    expect(existsSync(join(workspace, "b.txt"))).toBe(true);
  });

  test(verifies("C99", "end with their run, and each call has its result"), async () => {
    const { model } = script([{ events: [ask("search"), ask("plan")] }, say("Done.")], {
      search: [{ events: [{ text: "Looking." }, { stall: true }] }],
      plan: [{ events: [read] }, { events: [{ stall: true }] }],
    });
    const { events, response } = await run(model, { limits: { timeoutMs: 400 } });
    expect(response.metadata.finishReason).toBe("budget");
    expect(resultsOf(events).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    expect(inner(events).filter(({ type }) => type === "run_end")).toHaveLength(2);
  });
});

describe("the budget of a run", () => {
  test(verifies("C97", "is shared with subagents; its last turn stays for the run"), async () => {
    const { model } = script([{ events: [ask("search"), ask("review")] }, say("As far as it goes.")], {
      search: [{ events: [{ text: "Half." }, read] }, { events: [read] }, say("never")],
      review: [{ events: [read] }, { events: [read] }, say("never")],
    });
    const { events, response } = await run(model, { limits: { maxTurns: 4 } });
    const turns = [...events, ...inner(events)].filter(({ type }) => type === "turn_start");
    expect(turns).toHaveLength(4);
    expect(resultsOf(events).map(({ error }) => error?.code)).toEqual(["BUDGET_TURNS", "BUDGET_TURNS"]);
    expect(resultsOf(events).map(({ output }) => output)).toContain("Half.");
    expect(response.metadata.finishReason).toBe("end_turn");
  });

  test(verifies("S-212", "is not exceeded by many subagents at once"), async () => {
    const usage = { promptTokens: 1000, completionTokens: 0 };
    const calls = Array.from({ length: 40 }, () => ask("search"));
    const { model } = script(
      [
        { events: calls, usage },
        { ...say("Done."), usage },
      ],
      {
        search: [
          { events: [read], usage },
          { ...say("Found."), usage },
        ],
      },
    );
    const { events } = await run(model, { limits: { maxTokens: 6000 } });
    expect(inner(events).filter(({ type }) => type === "turn_end")).toHaveLength(5);
    expect(resultsOf(events)[0]?.error).toMatchObject({ code: "BUDGET_TOKENS" });
  });

  test(verifies("S-212", "counts turns of subagents whose provider tells no usage by an estimate"), async () => {
    const usage = { promptTokens: 0, completionTokens: 0 };
    const { model } = script(
      [
        { events: [ask("search"), ask("search")], usage },
        { ...say("Done."), usage },
      ],
      {
        search: [
          { events: [read], usage },
          { ...say("Found."), usage },
        ],
      },
    );
    const { response } = await run(model, { limits: { maxTokens: 1800 } });
    expect(response.metadata.finishReason).toBe("budget");
  });

  test(verifies("C97", "ends the run when subagents have used its tokens"), async () => {
    const usage = { promptTokens: 900, completionTokens: 100 };
    const { model } = script(
      [{ events: [ask("search")], usage: { promptTokens: 1, completionTokens: 1 } }, say("no")],
      {
        search: [{ events: [read], usage }, say("no")],
      },
    );
    const { response } = await run(model, { limits: { maxTokens: 1000 } });
    expect(response.metadata).toMatchObject({ finishReason: "budget", turnCount: 2 });
    expect(documentsOf(response, "error").at(-1)!.metadata).toMatchObject({ errorCode: "BUDGET_TOKENS" });
  });
});

describe("what a subagent may do", () => {
  const fixer = "---\ndescription: fixes\ntools: read_file, write_file, run_terminal_cmd\n---\nFix it.";
  const withFixer = (): string => {
    const workspace = newWorkspace();
    mkdirSync(join(workspace, ".claude/agents"), { recursive: true });
    writeFileSync(join(workspace, ".claude/agents/fixer.md"), fixer);
    return workspace;
  };
  const write = { events: [use("write_file", { target_file: "b.txt", content: "new" })] };

  test(verifies("S-151", "is at most what the run may: mode, tools and denials"), async () => {
    const fix = () => script([{ events: [ask("fixer")] }, say("Done.")], { fixer: [write, say("fixed")] }).model;
    const limits: Partial<AgentOptions>[] = [
      { mode: "ask" },
      { mode: "plan" },
      { excludeTools: ["write_file"] },
      { permissions: { deny: ["Write(b.txt)"] } },
    ];
    for (const limit of limits) {
      const { events, workspace } = await run(fix(), { workspace: withFixer(), trusted: true, ...limit });
      const results = inner(events).filter((event) => event.type === "tool_result");
      expect(results.map(({ status }) => status)).not.toContain("success");
      expect(results).toHaveLength(1);
      expect(existsSync(join(workspace, "b.txt"))).toBe(false);
    }
  });

  test(verifies("X58", "is asked for in its name, and the answer is in the log"), async () => {
    const command = { events: [use("run_terminal_cmd", { command: "touch b.txt" })] };
    const { model } = script([{ events: [ask("fixer")] }, say("Done.")], { fixer: [command, say("fixed")] });
    const asked: (string | undefined)[] = [];
    const { events, stream } = await run(model, {
      workspace: withFixer(),
      trusted: true,
      approver: {
        expiresAfterMs: 60_000,
        ask: async (request) => {
          asked.push(request.agent);
          return { optionId: request.options.find(({ kind }) => kind === "reject_once")!.id, by: "ann" };
        },
      },
    });
    expect(asked).toEqual(["fixer"]);
    expect(inner(events).map(({ type }) => type)).toContain("approval_resolved");
    const request = stream.find(({ event }) => event === "approval_request")!;
    expect(request.data).toMatchObject({ agent: "fixer" });
  });
});

describe("definitions", () => {
  test(verifies("C98", "have a description and instructions, and say what the subagent has"), () => {
    const kind = parseAgentKind(
      "---\nname: tests\ndescription: >\n  runs\n  tests\ntools: Read, Grep\nmaxTurns: 3\n---\nRun.",
      "x",
    );
    expect(kind).toMatchObject({
      name: "tests",
      description: "runs tests",
      mode: "ask",
      tools: ["read_file", "grep_search"],
      maxTurns: 3,
    });
    expect(parseAgentKind("---\ndescription: d\ntools:\n  - Bash\n---\nRun.", "by-file")).toMatchObject({
      name: "by-file",
      mode: "agent",
      tools: ["run_terminal_cmd", "read_terminal"],
    });
    for (const text of ["", "Run.", "---\ndescription: d\n---\n", "---\nname: ../x\ndescription: d\n---\nRun."]) {
      expect(parseAgentKind(text, "file")).toBeUndefined();
    }
  });

  test(verifies("S-150", "of a workspace count only with trust, and replace no others"), () => {
    const workspace = newWorkspace();
    const own = join(workspace, "home");
    const secret = join(folder, "secret.md");
    writeFileSync(secret, "---\ndescription: leaked\n---\nx");
    for (const place of [join(own, "agents"), join(workspace, ".sheaf/agents")]) {
      mkdirSync(place, { recursive: true });
      for (const name of ["search", "mine"]) {
        writeFileSync(join(place, `${name}.md`), `---\ndescription: of ${place}\n---\nx`);
      }
    }
    writeFileSync(join(workspace, ".sheaf/agents/theirs.md"), "---\ndescription: theirs\n---\nx");
    writeFileSync(join(workspace, ".sheaf/agents/large.md"), `---\ndescription: d\n---\n${"x".repeat(65 * 1024)}`);
    symlinkSync(secret, join(workspace, ".sheaf/agents/link.md"));
    const userFiles = { skillFolders: [own] };
    const trusted = findAgentKinds({ workspace, trusted: true, userFiles });
    expect([...trusted.keys()]).toEqual(expect.arrayContaining(["search", "plan", "review", "mine", "theirs"]));
    expect(trusted.get("mine")!.description).toBe(`of ${join(own, "agents")}`);
    expect(trusted.get("search")!.mode).toBe("ask");
    for (const name of ["large", "link"]) expect(trusted.has(name)).toBe(false);
    const untrusted = findAgentKinds({ workspace, trusted: false, userFiles: undefined });
    expect([...untrusted.keys()]).toEqual(["search", "plan", "review"]);
  });
});

describe("the model of a subagent", () => {
  const define = (place: string, name: string, model: string): void => {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${name}.md`), `---\ndescription: d\nmode: ask\nmodel: ${model}\n---\nWork.`);
  };
  const price = { input: 1_000_000, output: 0 };
  /** A home with a scripted model of its own for subagents. */
  const newHome = (): { readonly home: string; readonly small: string } => {
    const home = newWorkspace();
    const small = `scripted:${join(home, "small.json")}`;
    const usage = { promptTokens: 3, completionTokens: 0 };
    writeFileSync(join(home, "small.json"), JSON.stringify({ name: "Small", turns: [{ ...say("small"), usage }] }));
    const settings = { modelAliases: { haiku: small }, prices: { [small]: price } };
    writeFileSync(join(home, "config.json"), JSON.stringify(settings));
    return { home, small };
  };

  test(verifies(["C129", "N107"], "is that of its definition, with its own price"), async () => {
    const { home } = newHome();
    define(join(home, "agents"), "quick", "haiku");
    define(join(home, "agents"), "old", "opus");
    define(join(home, "agents"), "same", "inherit");
    define(join(home, "agents"), "odd", "nowhere/x");
    const main = { turns: [{ events: [ask("quick"), ask("same")] }, say("Done.")], agents: { same: [say("main")] } };
    writeFileSync(join(home, "main.json"), JSON.stringify(main));
    const name = `scripted:${join(home, "main.json")}`;
    const environment = { SHEAF_HOME: home };
    const { events, response } = await run(name as unknown as Model, { environment });
    const starts = inner(events).filter((event) => event.type === "run_start");
    expect(starts.map(({ modelName }) => modelName).toSorted()).toEqual(["Scripted main", "Small"]);
    expect(starts.find(({ modelName }) => modelName === "Small")).toMatchObject({ price });
    const ends = inner(events).filter((event) => event.type === "turn_end");
    expect(ends.map(({ model }) => model?.price)).toEqual(expect.arrayContaining([price, undefined]));
    const totals = documentsOf(response, "tool_call").map(({ metadata }) => (metadata as ToolCallMetadata).subagent);
    expect(totals.map((total) => total?.model)).toEqual(["Small", undefined]);
    expect(response.metadata.notices?.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^the subagent odd is left out: the model "nowhere\/x" is unknown/),
      expect.stringMatching(/model of the run: old \(opus\); modelAliases/),
    ]);
  });

  test(verifies("C129", "needs a price if the cost is limited"), async () => {
    const { home } = newHome();
    define(join(home, "agents"), "quick", "scripted:s.json");
    const found = findAgentKinds({ workspace: home, trusted: false, userFiles: { skillFolders: [home] } });
    const agentModels = toAgentModels({ model: "offline", workspace: home });
    const choose = (limits: object) => chooseAgents(found, { agentModels, limits }, 0);
    expect((await choose({})).models.has("quick")).toBe(true);
    const { kinds, notices } = await choose({ maxCostUsd: 1 });
    expect(kinds.has("quick")).toBe(false);
    expect(JSON.stringify(notices)).toMatch(
      /needs the price of \\"scripted:s.json\\".*\{\\"prices\\":\{\\"scripted:s.json\\":\{\\"input\\":3,/,
    );
  });

  test(verifies("S-191", "of a workspace is one of the run's provider, or that of the run"), async () => {
    const workspace = newWorkspace();
    const names = { near: "anthropic/small", far: "openai/large", none: "offline", script: "scripted:x.json" };
    for (const [name, model] of Object.entries(names)) define(join(workspace, ".claude/agents"), name, model);
    const found = findAgentKinds({ workspace, trusted: true, userFiles: undefined });
    const asked: string[] = [];
    const choose = (name: string) => {
      asked.push(name);
      return { name, choice: { kind: "offline" }, windowTokens: undefined } as const;
    };
    const findPrice = async () => undefined;
    const agentModels = { ofRun: undefined, toName: (name: string) => name, choose, findPrice };
    const order = { modelName: "anthropic/big", agentModels, limits: {} };
    const { kinds, models, notices } = await chooseAgents(found, order, 0);
    expect(asked).toEqual(["anthropic/small"]);
    expect([...models.keys()]).toEqual(["near"]);
    // They work all the same, with the model of the run.
    expect([...kinds.keys()]).toEqual(expect.arrayContaining(Object.keys(names)));
    expect(notices).toHaveLength(3);
    expect(JSON.stringify(notices)).toContain("the subagent far uses the model of the run");
  });
});
