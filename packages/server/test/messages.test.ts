/** Messages and events of the Chat API, beyond what the suite of packages/conformance checks. */
import { describe, expect, test } from "vitest";
import { createModelServer } from "../../../test/support/model-server.ts";
import { readEvents } from "../../../test/support/server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const start = (script?: unknown, args: readonly string[] = []): Promise<TestApp> => openApp({ script, args });

describe("a message", () => {
  test(verifies("X18", "says how much the model thinks; otherwise the server does"), async () => {
    const server = await start(undefined, ["--effort", "low"]);
    const effortOf = async (body: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const { id } = await server.ask({ message: "go", ...body });
      const [first] = await server.store.readEvents(id);
      return first?.type === "run_start" ? first.effort : "no start";
    };
    expect([await effortOf({}), await effortOf({ effort: "max" })]).toEqual(["low", "max"]);
    const refused = await server.chat({ message: "go", effort: "huge" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("effort")]);
  });

  test(verifies("N70", "may have the provider search the web where the operator said yes"), async () => {
    const ended = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }];
    const said = { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } };
    const chunks = [said, ...ended].map((event) => `data: ${JSON.stringify(event)}\n\n`);
    const provider = await createModelServer({ chunks });
    const claude = ["--model", "anthropic/claude-sonnet-4-5", "--api-key", "k", "--base-url", `${provider.url}/v1`];
    const open = await start(undefined, [...claude, "--web-search"]);
    const searches = async (body: object): Promise<boolean> => {
      await open.chat({ message: "go", ...body });
      return provider.requests.at(-1)!.body.includes('"web_search_20250305"');
    };
    expect([await searches({}), await searches({ webSearch: true }), await searches({ webSearch: false })]).toEqual([
      true,
      true,
      false,
    ]);
    const closed = await start(undefined, claude);
    const refused = await closed.chat({ message: "go", webSearch: true });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("--web-search")]);
    // What the operator allows for all is no demand on a model that cannot.
    const offline = await start(undefined, ["--model", "offline", "--web-search"]);
    expect((await offline.chat({ message: "go" })).status).toBe(200);
    expect((await offline.chat({ message: "go", webSearch: true })).status).toBe(400);
    await provider.close();
  });

  test(verifies("C46", "brings the model's instructions, and the end of its system prompt"), async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "Done." }, finish_reason: "stop" }] };
    const provider = await createModelServer({ chunks: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`] });
    const server = await start(undefined, ["--model", "openai-compatible/m", "--base-url", `${provider.url}/v1`]);
    await server.chat({ message: "go", systemPrompt: "You review code.", appendSystemPrompt: "Be brief." });
    const { messages } = JSON.parse(provider.requests[0]!.body) as { messages: { content: string }[] };
    expect(messages[0]!.content).toMatch(/^You review code\.\n[\s\S]*\n\nBe brief\.$/);
    const refused = await server.chat({ message: "go", systemPrompt: "" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("systemPrompt")]);
    await provider.close();
  });

  test(verifies(["N14"], "shows the model's reasoning only to those who ask"), async () => {
    const server = await start({ turns: [{ events: [{ reasoning: "hm" }, { text: "Done." }] }] });
    const answer = await server.chat(
      { message: "go", accept: { reasoning: true } },
      { headers: { Accept: "text/event-stream" } },
    );
    const events = await readEvents(answer);
    expect(events.filter(({ event }) => event === "reasoning_delta")).toHaveLength(1);
    const without = await readEvents(await server.fetch(`${answer.headers.get("location")}/events`));
    expect(without).toEqual(events.filter(({ event }) => event !== "reasoning_delta"));
  });
});

describe("the events of a response", () => {
  test(
    verifies(["X1", "X2"], "after an id that is still to come begin after it; the header goes before ?after"),
    async () => {
      const pause = { wait_ms: 250 };
      const texts = ["one ", "two ", "three ", "four "].flatMap((text) => [{ text }, pause]);
      const server = await start({ turns: [{ events: texts }] });
      const answer = await server.chat({ message: "go", stream: true });
      const path = `${answer.headers.get("location")}/events`;
      const [tail, beyond] = await Promise.all(
        [4, 1000].map(async (after) => readEvents(await server.fetch(`${path}?after=${after}`))),
      );
      const events = await readEvents(answer);
      expect(events.at(-1)!.id).toBeGreaterThan(5);
      expect(tail).toEqual(events.filter((event) => event.id > 4));
      const headers = { "Last-Event-ID": "4" };
      expect(await readEvents(await server.fetch(`${path}?after=0`, { headers }))).toEqual(tail);
      expect(beyond).toEqual([]);
      expect((await server.fetch(`${path}?after=1000`)).status).toBe(204);
    },
  );
});
