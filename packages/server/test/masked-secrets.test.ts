/** Secrets in what the API shows (S-257). */
import { createStreamDecoder } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { openApp } from "../../../test/support/open-app.ts";
import { findLeak, secretKinds } from "../../../test/support/secret-kinds.ts";
import { verifies } from "../../../test/support/verifies.ts";

const kinds = Object.values(secretKinds);
const keys = kinds.map(({ text }) => text).join("\n");

function listLeaks(text: string): string[] {
  return kinds.map(({ secret }) => findLeak(text, secret)).filter((leak) => leak !== "");
}

const script = {
  turns: [
    { events: [{ call: { tool: "read_file", arguments: { target_file: ".env" } } }] },
    { events: [{ text: `They are:\n${keys}\n`, chunk: 3 }] },
  ],
  after: "loop",
};

test(verifies(["S-257", "X2"], "no stream, JSON or export has one, and a stream resumes at each event"), async () => {
  const server = await openApp({ script, files: { ".env": keys } });
  const answer = await server.chat({ message: `Read these:\n${keys}`, stream: true });
  const stream = await answer.text();
  const location = answer.headers.get("location")!;
  const events = `${location}/events`;
  const { pathname } = new URL(location, server.address);
  const conversation = `/v1/conversations/${answer.headers.get("x-conversation-id")}`;
  const seen: Record<string, string> = { stream };
  const forms = ["stream-json", "ai-sdk-ui", "openai-chat", "openai-responses"].map(
    (form) => `${events}?format=${form}`,
  );
  const exports = ["json", "markdown"].map((format) => `${conversation}/export?format=${format}`);
  const search = "/v1/conversations?search=They";
  for (const path of [...forms, `${events}?snapshot=1`, pathname, conversation, ...exports, search]) {
    seen[path] = await (await server.fetch(path)).text();
    expect(seen[path]).toContain(path === search ? "They" : "[masked]");
  }
  for (const [path, text] of Object.entries(seen)) expect([path, listLeaks(text)]).toEqual([path, []]);

  const decoder = createStreamDecoder();
  const ids = decoder.push(stream).map(({ id }) => id);
  const place = (id: number): number => stream.indexOf(`id: ${id}\n`);
  // A prime step comes to every place in the pieces of three characters.
  for (const id of ids.slice(0, -1).filter((_, index) => index % 23 === 0)) {
    const rest = await (await server.fetch(events, { headers: { "last-event-id": String(id) } })).text();
    expect(rest.slice(rest.indexOf("id: "))).toBe(stream.slice(place(id + 1)));
  }
});

test(verifies("S-257", "the next request to the model has the same bytes"), async () => {
  const server = await openApp({ script, files: { ".env": keys } });
  const { conversationId } = await server.ask({ message: "Read" });
  const [response] = await server.store.forOwner("local").listResponses(conversationId);
  const log = JSON.stringify(await server.store.forOwner("local").readEvents(response!.id));
  expect(log).not.toContain("[masked]");
  for (const { text } of kinds) expect(log).toContain(JSON.stringify(text).slice(1, -1));
});
