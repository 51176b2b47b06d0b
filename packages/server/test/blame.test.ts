/** What made each line of a file, as the API answers it (C270). */
import { createHash } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { FileBlame } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";
import { verifies } from "../../../test/support/verifies.ts";

const edit = (from: string, to: string) => {
  const edits = [{ old_string: from, new_string: to }];
  return { events: [{ call: { tool: "edit_file", arguments: { target_file: "a.txt", edits } } }] };
};
const done = { events: [{ text: "Done." }] };
const key = `sk-ant-api03-${"Ab1".repeat(31)}-AAAAAAAA`;
const content = "one\nTWO\nTHREE\nfour, by hand\n";
const blame = (id: string, path: string) => `/v1/conversations/${id}/blame?path=${encodeURIComponent(path)}`;

/** A server whose file has a line of Ada's call, one of Bob's and one of a person. */
async function converse() {
  const tokens = { ada: "a".repeat(32), bob: "b".repeat(32) };
  const { cwd, home } = await openApp();
  const file = `${home}-tokens`;
  writeFileSync(file, `ada ${tokens.ada}\nbob ${tokens.bob}\n`, { mode: 0o600 });
  const script = { turns: [edit("two", "TWO"), done] };
  const other = `${home}-other.json`;
  writeFileSync(other, JSON.stringify({ turns: [edit("three", "THREE"), done] }));
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\nfour\n");
  const server = await openApp({
    cwd,
    script,
    args: ["--token-file", file, "--deny", "Read(secret.txt)", "--offer", `scripted:${other}`],
  });
  const [ada, bob] = [server.as(tokens.ada), server.as(tokens.bob)];
  const first = await ada.ask({ message: `Shout two with ${key}` });
  const second = await bob.ask({ message: "Shout three", model: `scripted:${basename(other)}` });
  writeFileSync(join(cwd, "a.txt"), content);
  return { cwd, ada, bob, first, second };
}

test(verifies(["C270", "S-53", "S-256"], "each line has its call; those of other owners stay unknown"), async () => {
  const { cwd, ada, bob, first, second } = await converse();
  const found = await ada.read<FileBlame>(blame(first.conversationId, "./a.txt"));
  const hash = createHash("sha256").update(content).digest("hex");
  const call = { conversationId: first.conversationId, responseId: first.id, tool: "edit_file", certain: true };
  expect(found).toEqual({
    path: "a.txt",
    totalLines: 4,
    hash,
    ranges: [
      { startLine: 1, endLine: 1 },
      {
        startLine: 2,
        endLine: 2,
        call: expect.objectContaining({ ...call, model: expect.stringMatching(/^scripted:[\w-]+$/) }),
      },
      { startLine: 3, endLine: 4 },
    ],
  });
  expect(found.ranges[1]!.call!.prompt).toMatch(/^Shout two with sk-ant-…\[masked\]$/);
  for (const secret of [key, cwd]) expect(JSON.stringify(found)).not.toContain(secret);
  const { ranges } = await bob.read<FileBlame>(blame(second.conversationId, "a.txt"));
  expect(ranges.map((range) => range.call?.prompt)).toEqual([undefined, "Shout three", undefined]);
});

test(verifies(["C270", "S-20", "S-53"], "what a client must not read, or is no text, has an error"), async () => {
  const { cwd, ada, bob, first } = await converse();
  writeFileSync(join(cwd, "secret.txt"), "hidden\n");
  writeFileSync(join(cwd, "picture"), Buffer.from([0, 1, 2, 3]));
  writeFileSync(join(cwd, "large.txt"), "x".repeat(1024 * 1024 + 1));
  symlinkSync("/etc/hostname", join(cwd, "out"));
  const id = first.conversationId;
  const rows: readonly (readonly [TestApp["fetch"], string, number, RegExp])[] = [
    [bob.fetch, blame(id, "a.txt"), 404, /conversation/],
    [ada.fetch, blame("other", "a.txt"), 404, /conversation/],
    [ada.fetch, blame(id, "missing.txt"), 404, /missing\.txt/],
    [ada.fetch, blame(id, "secret.txt"), 403, /forbids/],
    [ada.fetch, blame(id, "../tokens"), 403, /leads out/],
    [ada.fetch, blame(id, "out"), 403, /leads out/],
    [ada.fetch, blame(id, "picture"), 400, /not a text file/],
    [ada.fetch, blame(id, "large.txt"), 400, /large\.txt/],
    [ada.fetch, blame(id, "."), 400, /./],
    [ada.fetch, `/v1/conversations/${id}/blame`, 403, /path is empty/],
  ];
  for (const [send, path, status, message] of rows) {
    const answer = await send(path);
    expect([answer.status, await answer.text()], path).toEqual([status, expect.stringMatching(message)]);
  }
});
