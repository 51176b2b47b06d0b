/** A conversation as a file to save. */
import type { Conversation } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toDisposition } from "../src/disposition.ts";
import { openApp } from "../../../test/support/open-app.ts";

const waitingScript = {
  turns: [{ events: [{ text: "Done." }] }, { events: [{ text: "Begun. " }, { wait_ms: 60_000 }] }],
};

test(verifies("X37", "has what ended, under a name that every system accepts"), async () => {
  const server = await openApp({ script: waitingScript });
  const first = await server.ask({ message: "Wörter: a/../b" });
  const { conversationId } = first;
  const path = `/v1/conversations/${conversationId}`;
  const running = await server.chat({ message: "second", conversationId, stream: true });

  const markdown = await server.fetch(`${path}/export?format=markdown`);
  expect(markdown.status).toBe(200);
  expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=UTF-8");
  expect(markdown.headers.get("x-content-type-options")).toBe("nosniff");
  expect(markdown.headers.get("content-disposition")).toBe(
    `attachment; filename="W-rter-a-b.md"; filename*=UTF-8''W%C3%B6rter-a-b.md`,
  );
  const text = await markdown.text();
  expect(text).toContain("> Wörter: a/../b\n\n## Answer\n\nDone.\n");
  expect(text).not.toContain("Begun");

  const json = await server.fetch(`${path}/export?format=json`);
  expect(json.headers.get("content-disposition")).toContain('filename="W-rter-a-b.json"');
  const exported = (await json.json()) as Conversation;
  expect(exported.turns).toEqual([{ message: "Wörter: a/../b", response: first }]);
  expect(exported).not.toHaveProperty("runningResponseId");
  await server.fetch(`${running.headers.get("location")}/cancel`, { method: "POST" });
  await running.text();
});

test.each([
  ["漢字 テスト", "conversation", "漢字-テスト"],
  ["हिन्दी", "conversation", "हिन्दी"],
  ['"; filename=evil.exe\r\nSet-Cookie: a', "filename-evil-exe-Set-Cookie-a", "filename-evil-exe-Set-Cookie-a"],
  ["../../etc/passwd", "etc-passwd", "etc-passwd"],
  ['\u202E<>:"|?*', "conversation", "conversation"],
  ["\uD800", "conversation", "conversation"],
  ["CON", "conversation", "conversation"],
  ["𠀀".repeat(70), "conversation", "𠀀".repeat(60)],
])("%j is saved as %s or %s", (title, plain, name) => {
  const encoded = encodeURIComponent(`${name}.md`);
  expect(toDisposition(title, "md", "conversation")).toBe(
    `attachment; filename="${plain}.md"; filename*=UTF-8''${encoded}`,
  );
});
