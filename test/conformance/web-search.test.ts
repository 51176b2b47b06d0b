/** The provider searches the web: one log, every format, later requests (C48, N69). */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChatResponse } from "@sheaf/protocol";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

const toBody = (...events: readonly object[]): { readonly chunks: readonly string[] } => ({
  chunks: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
});
const begin = { type: "message_start", message: { id: "msg_1", model: "claude-sonnet-4-5", content: [] } };
const end = (stop_reason: string) => [{ type: "message_delta", delta: { stop_reason } }, { type: "message_stop" }];
const blocks = (...list: readonly object[]) =>
  list.flatMap((content_block, index) => [
    { type: "content_block_start", index, content_block },
    { type: "content_block_stop", index },
  ]);

const cipher = "CIPHER-8c11d2";
const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "sheaf" } };
const page = { type: "web_search_result", url: "https://a.example/", title: "A page", encrypted_content: cipher };
const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [page] };
const text = (value: string) => ({ type: "text", text: value });

const answer = toBody(begin, ...blocks(text("Let me see."), call, result, text("Found.")), ...end("end_turn"));
const followUp = toBody(begin, ...blocks(text("Done.")), ...end("end_turn"));

interface Sent {
  readonly tools: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
}
const sent = (): Sent => JSON.parse(server.requests.at(-1)!.body) as Sent;

const argumentsFor = (model: string) => ["-p", "--model", model, "--base-url", server.url, "--api-key", "test-key"];
const claude = (): string[] => argumentsFor("anthropic/claude-sonnet-4-5");

test(verifies(["C48", "N69"], "a search is shown in every format, and goes back after --resume"), async () => {
  server.answer(answer, followUp);
  const cwd = folders.newFolder();
  const first = await runSheaf([...claude(), "--web-search", "what is new?"], { cwd });
  expect([first.code, first.stderr]).toEqual([0, ""]);
  expect(sent().tools[0]).toMatchObject({ name: "web_search" });
  const lines = parseStream(first.stdout);
  const calls = lines.filter(({ type }) => type === "tool_call");
  expect(calls.map(({ subtype, tool_call }) => [subtype, tool_call])).toMatchObject([
    ["started", { function: { name: "web_search" } }],
    ["completed", { function: { name: "web_search", arguments: '{"query":"sheaf"}' } }],
  ]);
  expect(lines.at(-1)).toMatchObject({ type: "result", result: "Let me see.Found.", num_turns: 1 });

  const session = String(lines[0]!.session_id);
  const show = async (format: string): Promise<string> =>
    (await runSheaf(["show", session, "--output-format", format], { cwd })).stdout;
  const { documents } = JSON.parse(await show("documents")) as ChatResponse;
  expect(documents).toMatchObject([
    { type: "text", content: "Let me see." },
    {
      type: "tool_call",
      metadata: {
        toolName: "web_search",
        arguments: { query: "sheaf" },
        result: { status: "success", data: "https://a.example/ A page" },
      },
    },
    { type: "text", content: "Found." },
  ]);
  expect(await show("text")).toBe("Searched the web\n\nLet me see.\n\nFound.\n");
  for (const format of ["stream-json", "documents", "documents-stream", "text", "json"]) {
    expect(await show(format)).not.toContain(cipher);
  }

  const second = await runSheaf([...claude(), "--web-search", `--resume=${session}`, "go on"], { cwd });
  expect(second.code).toBe(0);
  const { messages } = sent();
  expect(messages[1]!.content.map(({ type }) => type)).toEqual(["text", call.type, result.type, "text"]);
  expect(JSON.stringify(messages)).toContain(cipher);
});

test(verifies("C48", "an answer that was paused goes on, and no search is made without the flag"), async () => {
  const paused = toBody(begin, ...blocks(call), ...end("pause_turn"));
  const rest = toBody(begin, ...blocks(result, text("Found.")), ...end("end_turn"));
  server.answer(paused, rest, followUp);
  const cwd = folders.newFolder();
  const run = await runSheaf([...claude(), "--web-search", "what is new?"], { cwd });
  const last = parseStream(run.stdout).at(-1)!;
  expect([run.code, last.result, last.num_turns]).toEqual([0, "Found.", 2]);
  expect(sent().messages.at(-1)).toMatchObject({ role: "assistant", content: [call] });

  await runSheaf([...claude(), `--resume=${String(last.session_id)}`, "go on"], { cwd });
  expect(sent().tools.some(({ name }) => name === "web_search")).toBe(false);
  expect(JSON.stringify(sent().messages)).not.toContain(cipher);
});

test(verifies("C48", "a provider that only pauses ends the run"), async () => {
  server.answer(toBody(begin, ...end("pause_turn")));
  const before = server.requests.length;
  const { code, stdout } = await runSheaf([...claude(), "--web-search", "what is new?"], { cwd: folders.newFolder() });
  expect([code, server.requests.length - before]).toEqual([6, 11]);
  expect(parseStream(stdout).at(-1)).toMatchObject({ error: { code: "EMPTY_ANSWER" } });
});

test.each([["offline"], ["google/gemini-2.5-pro"], ["openai-compatible/m"]])(
  verifies("C48", "%s: the flag is refused before anything is sent; the configuration asks where it can"),
  async (model) => {
    const before = server.requests.length;
    const words = model === "offline" ? ["-p", "--model", model] : argumentsFor(model);
    const cwd = folders.newFolder();
    const refused = await runSheaf([...words, "--web-search", "go"], { cwd });
    expect([refused.code, server.requests.length]).toEqual([2, before]);
    expect(refused.stderr).toMatch(/^sheaf: USAGE: the model .* has no web search .*: leave out --web-search/);

    const home = folders.newFolder({ "config.json": JSON.stringify({ webSearch: true }) });
    server.answer({ status: 401 });
    const configured = await runSheaf([...words, "hello"], { cwd, home });
    expect(configured.stderr).not.toContain("web search");
  },
);

test(verifies(["C48", "C59"], "every model that may answer must be able to search"), async () => {
  server.answer(followUp);
  const words = [...claude(), "--web-search", "--fallback-model"];
  const refused = await runSheaf([...words, "offline", "go"], { cwd: folders.newFolder() });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("for fallbacks too")]);
  const run = await runSheaf([...words, "anthropic/claude-opus-4-8", "go"], { cwd: folders.newFolder() });
  expect(run.code).toBe(0);
  expect(sent().tools[0]).toMatchObject({ name: "web_search" });
});

test(verifies("C48", "the configuration asks for it"), async () => {
  server.answer(followUp);
  const home = folders.newFolder({ "config.json": JSON.stringify({ webSearch: true }) });
  expect((await runSheaf([...claude(), "go"], { cwd: folders.newFolder(), home })).code).toBe(0);
  expect(sent().tools[0]).toMatchObject({ name: "web_search" });
});
