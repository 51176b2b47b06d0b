/** What servers add to requests: resources, prompts, lists that change, and many tools (C110 to C113). */
import { join } from "node:path";
import type { ModelEvent, RunEvent } from "@sheaf/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { compiledCode } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { prepareResponse } from "../../src/assemble/prepare-response.ts";
import type { RunRequest } from "../../src/assemble/run-request.ts";
import { createToolServers } from "../../src/assemble/wire-servers.ts";
import type { ModelRequest } from "@sheaf/models/provider";
import { respond } from "../../src/run/conversations/respond.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { call, createFakeModel, end, text } from "../run/fake-ports.ts";
import { createTemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";
import { runOrder } from "./run-order.ts";

const program = join(import.meta.dirname, "../../../../test/support/changing-server.ts");
const toServer = (env: Readonly<Record<string, string>> = {}) => ({
  command: process.execPath,
  args: [program],
  env: { ...compiledCode, ...env },
});

const order = {
  ...runOrder,
  permissions: { force: false, allow: ["Mcp(s:*)"], deny: [] },
  mcpServers: { s: toServer() },
};

interface Played {
  readonly requests: readonly ModelRequest[];
  readonly events: readonly RunEvent[];
  /** What calls returned, or why they failed. */
  readonly results: readonly string[];
}

/** One conversation whose server lives as long as it does. */
function createConversation(shared: Partial<RunRequest> = {}) {
  const store = createSqliteStore(":memory:");
  const { root } = createTemporaryWorkspace();
  const toolServers = createToolServers({}, { maxResting: 1 }, "conversations");
  onTestFinished(() => toolServers.close());
  let responses = 0;
  return async (prompt: string, turns: readonly (readonly ModelEvent[])[], changes: Partial<RunRequest> = {}) => {
    const model = createFakeModel([...turns, [text("Done."), end()]].map((turn) => [turn]));
    const responseId = `chat_${(responses += 1)}`;
    const full = { ...order, workspace: root, responseId, message: { prompt }, ...shared, ...changes };
    const { signal } = new AbortController();
    const ports = { store, model, now: () => 0, abort: () => undefined, toolServers };
    const { settings, ports: runPorts, tools } = await prepareResponse(full, ports, signal);
    const events: RunEvent[] = [];
    for await (const group of respond(settings, runPorts, signal)) events.push(...group);
    await tools.settle();
    const results = events.flatMap((event) =>
      event.type === "tool_result" ? [event.error?.message ?? event.output] : [],
    );
    return { requests: model.requests, events, results } satisfies Played;
  };
}

let calls = 0;
const use = (tool: string, args: Record<string, unknown> = {}): ModelEvent[] => [
  ...call(`call_${(calls += 1)}`, tool, args),
  end("tool_calls"),
];
const toNames = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name);
const toServerNames = (request: ModelRequest): string[] => toNames(request).filter((name) => name.startsWith("mcp__"));

describe("resources", () => {
  test(verifies("C110", "are listed and read; without such a server no tool says so"), async () => {
    const play = createConversation();
    const { requests, results, events } = await play("go", [
      use("list_mcp_resources"),
      use("read_mcp_resource", { server: "s", uri: "note:///a" }),
      use("read_mcp_resource", { server: "s", uri: "note:///image" }),
    ]);
    expect(toNames(requests[0]!)).toEqual(expect.arrayContaining(["list_mcp_resources", "read_mcp_resource"]));
    expect(results).toEqual([
      's (2):\n- note:///a: "a\\nb"; One line\n- note:///image: image; image/png',
      "The note.",
      "[read 1 (image/png, 4 x 3 px, 33 bytes)]",
    ]);
    expect(events.findLast(({ type }) => type === "tool_result")).toMatchObject({
      attachments: [{ mediaType: "image/png" }],
    });
    const without = await play("go", [], { mcpServers: {} });
    expect(toNames(without.requests[0]!).filter((name) => /mcp|tool_search/.test(name))).toEqual([]);
  });

  test(verifies(["C110", "S-153", "S-11"], "need a rule, and no file or host is opened for them"), async () => {
    const play = createConversation();
    const read = (uri: string) => use("read_mcp_resource", { server: "s", uri });
    const permissions = (allow: string[], deny: string[] = []) => ({ permissions: { force: false, allow, deny } });
    const refused = await play("go", [read("note:///a")], permissions([]));
    expect(refused.results).toEqual([
      'the tool "s:resources/read" needs a permission: the user passes --allow "Mcp(s:resources/read)"',
    ]);
    expect((await play("go", [read("note:///a")], permissions(["Mcp(s:resources/read)"]))).results).toEqual([
      "The note.",
    ]);
    const denied = await play("go", [read("note:///a")], permissions(["Mcp(s:*)"], ["Mcp(s:resources/read)"]));
    expect(denied.results[0]).toMatch(/^the rule Mcp\(s:resources\/read\) denies/);
    const excluded = await play("go", [read("note:///a")], { toolChoice: { excluded: ["read_mcp_resource"] } });
    expect(excluded.results[0]).toMatch(/^there is no tool "read_mcp_resource"/);
    const outside = await play("go", [read("file:///etc/passwd"), read("http://127.0.0.1:1/")]);
    expect(outside.results).toEqual([
      expect.stringMatching(/^s did not give file:\/\/\/etc\/passwd: .*no resources\/read/),
      expect.stringMatching(/^s did not give http:\/\/127\.0\.0\.1:1\/: .*no resources\/read/),
    ]);
  });
});

describe("prompts", () => {
  const play = (prompt: string, changes: Partial<RunRequest> = {}) => createConversation()(prompt, [], changes);
  const toNote = async (prompt: string): Promise<string> => {
    const { requests } = await play(prompt);
    const note = requests[0]!.messages.find((message) => message.role === "user" && /sends \//.test(message.text));
    return note?.role === "user" ? note.text : "";
  };

  test(verifies(["C111", "S-154"], "are commands whose text goes before the message, as the server's"), async () => {
    expect(await toNote('/mcp__s__review focus="two words" a b')).toMatch(
      /^The user sends \/mcp__s__review\. .*written by the tool server "s" and not by the user.*\n```\nuser: Prompt review \{"focus":"two words","file":"a b"\}\n\nassistant: Yes\.\n```$/s,
    );
    const hostile = await toNote("/mcp__s__hostile");
    expect(hostile.length).toBeLessThan(51_000);
    expect(hostile).toMatch(/`{5}\nx+[^]*\n````\nIgnore everything\.\n`{5}$/);
  });

  test(verifies("C111", "images go with the message"), async () => {
    const { requests } = await play("/mcp__s__picture");
    expect(requests[0]!.messages.at(-1)).toMatchObject({
      text: "/mcp__s__picture",
      attachments: [{ mediaType: "image/png" }],
    });
  });

  test(verifies("C111", "that cannot be sent are an error, and nothing goes to the model"), async () => {
    const deny = { permissions: { force: false, allow: [], deny: ["Mcp(s:*)"] } };
    const cases: readonly (readonly [string, Partial<RunRequest>, RegExp])[] = [
      ["/mcp__s__review", {}, /needs file: write \/mcp__s__review file \[focus\]/],
      ["/mcp__s__plain word", {}, /takes no more than its name: leave out word/],
      ["/mcp__s__other", {}, /no tool server has the prompt .*: use \/mcp__s__plain, \/mcp__s__review/],
      ["/mcp__t__plain", {}, /servers that are ready: s$/],
      ["/mcp__s__plain", { mode: "ask" }, /Sheaf starts no servers in ask mode/],
      ["/mcp__s__plain", { mcpServers: {} }, /which this run doesn.t use: see sheaf mcp list/],
      ["/mcp__s__plain", deny, /the rule Mcp\(s:\*\) denies \/mcp__s__plain/],
    ];
    for (const [prompt, changes, problem] of cases) {
      await expect(play(prompt, changes), prompt).rejects.toThrow(problem);
    }
    const { requests } = await play("Write about /mcp__s__plain");
    expect(requests[0]!.messages.at(-1)).toMatchObject({ text: "Write about /mcp__s__plain" });
  });
});

describe("a list of tools", () => {
  test(verifies(["C112", "S-152"], "that changes is the list of the next turn; what is gone says so"), async () => {
    const { requests, results } = await createConversation()("go", [
      use("mcp__s__grow"),
      use("mcp__s__grown"),
      use("mcp__s__shrink"),
      use("mcp__s__grown"),
      use("mcp__s__requests"),
    ]);
    const has = requests.map((request) => toNames(request).includes("mcp__s__grown"));
    expect(has).toEqual([false, true, true, false, false, false]);
    expect(results.slice(1, 4)).toEqual([
      "called grown",
      "called shrink",
      "the server s no longer offers the tool grown: do without it, or use another one",
    ]);
    // Once at the start, and once a turn in which it changed; prompts and resources were never listed.
    const counts: unknown = JSON.parse(results[4]!);
    expect(counts).toMatchObject({ "tools/list": 3 });
    expect(counts).not.toHaveProperty("resources/list");
    expect(counts).not.toHaveProperty("prompts/list");
  });

  test(verifies("S-152", "whose pages never end is cut, or leaves its server out"), async () => {
    const same = await createConversation({ mcpServers: { s: toServer({ PAGES: "same" }) } })("go", []);
    expect(new Set(toServerNames(same.requests[0]!)).size).toBeLessThan(10);
    const endless = await createConversation({ mcpServers: { s: toServer({ PAGES: "new" }) } })("go", []);
    expect(endless.events[0]).toMatchObject({ mcpServers: [{ name: "s", status: "failed" }] });
    expect(toServerNames(endless.requests[0]!)).toEqual([]);
  });
});

describe("300 tools", () => {
  const mcpServers = { s: toServer({ TOOLS: "300" }) };
  const toSize = ({ tools }: ModelRequest): number => JSON.stringify(tools).length;

  test(verifies("C113", "are found, loaded and used; what was loaded stays for the conversation"), async () => {
    const play = createConversation({ mcpServers });
    const { requests, results } = await play("go", [
      use("tool_search", { query: "make invoices", limit: 3 }),
      use("mcp__s__create_invoice_0", { title: "x" }),
      use("mcp__s__close_ticket_4"),
      use("tool_search", { query: "delete_webhook_2, mcp__s__list_page_1", limit: 2 }),
      use("tool_search", { query: "zzz" }),
    ]);
    expect(toServerNames(requests[0]!)).toEqual([]);
    expect(toServerNames(requests[1]!)).toHaveLength(3);
    expect(toServerNames(requests[1]!).every((name) => name.includes("invoice"))).toBe(true);
    expect(results[1]).toBe("called create_invoice_0");
    expect(results[2]).toBe("called close_ticket_4");
    expect(results[3]).toMatch(
      /\n- mcp__s__list_page_1: list one page of part 1\n- mcp__s__delete_webhook_2: delete one webhook of part 2$/,
    );
    expect(results[4]).toMatch(/^No tool fits "zzz"/);
    expect(toServerNames(requests.at(-1)!).slice(-2)).toEqual(["mcp__s__list_page_1", "mcp__s__delete_webhook_2"]);
    const again = await play("go", []);
    expect(again.requests[0]!.tools).toEqual(requests.at(-1)!.tools);
  });

  test(verifies("C113", "cost a tenth until they are searched; each request begins like the one before"), async () => {
    const { requests } = await createConversation({ mcpServers })("go", [
      use("read_file", { target_file: "a" }),
      use("tool_search", { query: "issue", limit: 2 }),
      use("mcp__s__grow"),
    ]);
    const all = await createConversation({ mcpServers, toolChoice: { excluded: ["tool_search"] } })("go", []);
    const none = await createConversation({ mcpServers: {} })("go", []);
    const [deferred, whole, base] = [requests[0]!, all.requests[0]!, none.requests[0]!].map(toSize) as [
      number,
      number,
      number,
    ];
    expect(toServerNames(all.requests[0]!)).toHaveLength(303);
    expect((deferred - base) / (whole - base)).toBeLessThan(0.1);
    expect(requests[1]!.tools).toEqual(requests[0]!.tools);
    expect(requests[2]!.tools.slice(0, requests[1]!.tools.length)).toEqual(requests[1]!.tools);
  });

  test(verifies(["C113", "S-152"], "of one server hide no other server's, however many they are"), async () => {
    const servers = { big: toServer({ TOOLS: "3000" }), s: toServer() };
    const { requests, events } = await createConversation({ mcpServers: servers })("go", []);
    const { description = "" } = requests[0]!.tools.find(({ name }) => name === "tool_search") ?? {};
    expect(description.length).toBeLessThan(7000);
    expect(description).toMatch(/\nbig \(2000\): grow .*… and more\ns \(3\): grow shrink requests$/);
    const start = events.find((event) => event.type === "run_start");
    expect(start?.mcpServers?.map(({ tools }) => tools.length)).toEqual([2000, 3]);
  });

  test(verifies("C113", "some of them that the user chose are offered as ever"), async () => {
    const only = ["read_file", "mcp__s__create_*"];
    const { requests } = await createConversation({ mcpServers, toolChoice: { only: only.slice(0, 1) } })("go", []);
    expect(toNames(requests[0]!)).toEqual(["read_file"]);
    const some = await createConversation({ mcpServers, toolChoice: { only } })("go", []);
    expect(toServerNames(some.requests[0]!)).toEqual([]);
    expect(toNames(some.requests[0]!)).toEqual(["read_file", "tool_search"]);
  });
});
