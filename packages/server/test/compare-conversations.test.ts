/** Two conversations side by side, as the API answers it (C271). */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ConversationComparison } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { openApp } from "../../../test/support/open-app.ts";
import { verifies } from "../../../test/support/verifies.ts";

const key = `sk-ant-api03-${"Ab1".repeat(31)}-AAAAAAAA`;
const write = (name: string) => ({
  events: [{ call: { tool: "write_file", arguments: { target_file: name, content: `Uses ${key}\n` } } }],
});
const done = { events: [{ text: "Done." }] };

test(verifies(["C271", "S-53", "S-256"], "shows an owner where two conversations part, without secrets"), async () => {
  const tokens = { ada: "a".repeat(32), bob: "b".repeat(32) };
  const { cwd, home } = await openApp();
  const file = `${home}-tokens`;
  writeFileSync(file, `ada ${tokens.ada}\nbob ${tokens.bob}\n`, { mode: 0o600 });
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const another = `${home}-other.json`;
  writeFileSync(another, JSON.stringify({ turns: [write("c.txt"), done] }));
  const script = { turns: [write("b.txt"), done] };
  const args = ["--token-file", file, "--offer", `scripted:${another}`];
  const server = await openApp({ cwd, script, args });
  const [ada, bob] = [server.as(tokens.ada), server.as(tokens.bob)];
  const first = await ada.ask({ message: "Write" });
  const second = await ada.ask({ message: "Write", model: `scripted:${basename(another)}` });
  const other = await bob.ask({ message: "Write" });
  const path = (one: string, two: string) => `/v1/conversations/${one}/diff?with=${encodeURIComponent(two)}`;
  const found = await ada.read<ConversationComparison>(path(first.conversationId, second.conversationId));
  expect(found).toMatchObject({
    conversations: [
      { conversationId: first.conversationId, responses: 1, turns: 2, calls: 1, end: "completed", files: ["b.txt"] },
      { conversationId: second.conversationId, files: ["c.txt"] },
    ],
    parting: { place: "response 1, turn 1, call 1 (write_file)", message: "the call differs" },
    files: ["b.txt", "c.txt"],
  });
  expect(found.parting!.diff).toContain('-  "target_file": "b.txt",\n+  "target_file": "c.txt",');
  for (const secret of [key, cwd]) expect(JSON.stringify(found)).not.toContain(secret);
  const same = await ada.read<ConversationComparison>(path(first.conversationId, first.conversationId));
  expect([same.parting, same.files]).toEqual([undefined, []]);
  for (const unknown of [other.conversationId, "", "none"]) {
    const answer = await ada.fetch(path(first.conversationId, unknown));
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("conversation")]);
  }
});
