/** Versions of messages: branches of a conversation, with their files (C250 to C252). */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatRequest, Conversation, ConversationChanges, RevertResult } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { openApp } from "../../../test/support/open-app.ts";
import { verifies } from "../../../test/support/verifies.ts";

const folders = createTestFolder();
const author = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "A"],
    [`GIT_${who}_EMAIL`, "a@b"],
  ]),
);

const run = (command: string) => ({ events: [{ call: { tool: "run_command", arguments: { command } } }] });
const done = { events: [{ text: "Done." }] };
/** No two versions of a file are alike. */
const random = "cat /proc/sys/kernel/random/uuid";
const turns = [run(`${random} > a.txt`), done, run(`${random} > b.txt`), done, run(`${random} > c.txt`), done];

async function open(workspace: readonly string[] = []) {
  const server = await openApp({
    script: { turns, after: "loop" },
    args: ["--force", "--sandbox", "disabled", ...workspace],
  });
  const read = (name: string): string | undefined => {
    const file = join(server.cwd, name);
    return existsSync(file) ? readFileSync(file, "utf8") : undefined;
  };
  const files = () => ["a.txt", "b.txt", "c.txt"].map(read);
  const ask = (body: Partial<ChatRequest> & { message: string }) => server.ask(body);
  const first = await ask({ message: "one" });
  const path = `/v1/conversations/${first.conversationId}`;
  const load = () => server.read<Conversation>(path);
  const listTurns = async () => (await load()).turns.map(({ message, versions }) => [message, versions]);
  const change = async (way: "branches" | "revert", body: object): Promise<RevertResult> => {
    const answer = await server.send("POST", `${path}/${way}`, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as RevertResult;
  };
  return { server, ask, first, path, load, listTurns, change, files, read };
}

test(
  verifies(["C250", "C251", "C252"], "edit, regenerate and go back: nothing is lost, each version has its files"),
  async () => {
    const { ask, first, load, listTurns, change, files } = await open();
    const { conversationId } = first;
    const second = await ask({ message: "two", conversationId });
    const before = files();
    const edited = await ask({ message: "zwei", conversationId, parentResponseId: first.id });
    expect(await listTurns()).toEqual([
      ["one", undefined],
      ["zwei", [second.id, edited.id]],
    ]);
    const after = files();
    expect([after[0], after[1] === before[1]]).toEqual([before[0], false]);
    const third = await ask({ message: "three", conversationId });
    const again = await ask({ message: "one", conversationId, parentResponseId: null });
    expect(await listTurns()).toEqual([["one", [first.id, again.id]]]);
    expect([files()[0] === before[0], files().slice(1)]).toEqual([false, [undefined, undefined]]);
    const looked = await change("branches", { responseId: edited.id, dryRun: true });
    expect(looked.files.map(({ filePath, action }) => [filePath, action])).toEqual(
      expect.arrayContaining([
        ["a.txt", "restored"],
        ["b.txt", "restored"],
        ["c.txt", "restored"],
      ]),
    );
    expect(await listTurns()).toEqual([["one", [first.id, again.id]]]);
    expect(await change("branches", { responseId: edited.id })).toEqual(looked);
    expect((await load()).turns.map(({ response }) => response.id)).toEqual([first.id, edited.id, third.id]);
    expect(files().slice(0, 2)).toEqual(after.slice(0, 2));
    await change("branches", { responseId: second.id });
    expect(files()).toEqual(before);
    await change("revert", { responseId: second.id });
    const { turns: shown, nextVersions } = await load();
    expect([shown.length, nextVersions]).toEqual([1, [second.id, edited.id]]);
    await change("branches", { responseId: edited.id, onConflict: "keep" });
    expect(files()).toEqual([before[0], undefined, undefined]);
  },
);

test(
  verifies(["C250", "C252"], "a message on another branch changes no file of others, and names its response"),
  async () => {
    const { server, ask, first, path, read, listTurns } = await open();
    const { conversationId } = first;
    writeFileSync(join(server.cwd, "a.txt"), "mine");
    const edit = { message: "uno", conversationId, parentResponseId: null };
    const refused = await server.chat(edit);
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { errorCode: "FILES_CHANGED" } }]);
    expect([read("a.txt"), await listTurns()]).toEqual(["mine", [["one", undefined]]]);
    for (const body of [
      { message: "two", conversationId, parentResponseId: "chat_none" },
      { message: "two", parentResponseId: first.id },
    ])
      expect((await server.chat(body)).status).toBe(404);
    expect((await server.send("POST", `${path}/branches`, { responseId: "chat_none" })).status).toBe(404);
    expect((await server.chat({ ...edit, whenBusy: "steer" })).status).toBe(400);
    const { id } = await ask({ ...edit, onConflict: "leave" });
    expect(await listTurns()).toEqual([["uno", [first.id, id]]]);
  },
);

test(verifies("C250", "a message that waits comes after the response that it names"), async () => {
  const { server, ask, first, listTurns } = await open();
  const { conversationId } = first;
  const waiting = { conversationId, parentResponseId: null, whenBusy: "queue", onConflict: "overwrite" } as const;
  const [, second, third] = await Promise.all([
    ask({ message: "two", conversationId }),
    ask({ message: "uno", ...waiting }),
    ask({ message: "eins", ...waiting }),
  ]);
  expect(await listTurns()).toEqual([["eins", [first.id, second.id, third.id]]]);
  await server.stop();
});

test(verifies(["C252", "R-54"], "in a workspace from git each branch has its files"), async () => {
  const source = folders.newFolder({ "a.txt": "start\n" });
  for (const words of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-qm", "Begin"],
  ])
    execFileSync("git", words, { cwd: source, env: { PATH: process.env.PATH, HOME: source, ...author } });
  const { server, ask, first, path, load, change } = await open(["--workspace", `app=git+file://${source}#main`]);
  const { conversationId } = first;
  const readPatches = async () =>
    (await server.read<ConversationChanges>(`${path}/changes`)).files.map(({ filePath, patch }) => [filePath, patch]);
  const second = await ask({ message: "two", conversationId });
  const before = await readPatches();
  const edited = await ask({ message: "zwei", conversationId, parentResponseId: first.id });
  const after = await readPatches();
  expect([after.length, after[0], after[1]![1] === before[1]![1]]).toEqual([2, before[0], false]);
  const kept = await server.send("POST", `${path}/branches`, { responseId: second.id, onConflict: "keep" });
  expect([kept.status, await kept.json()]).toMatchObject([400, { error: { errorCode: "USAGE" } }]);
  expect(await change("branches", { responseId: second.id })).toMatchObject({
    responseIds: [edited.id],
    files: [{ filePath: "b.txt", action: "restored" }],
  });
  expect(await readPatches()).toEqual(before);
  await change("branches", { responseId: edited.id });
  expect(await readPatches()).toEqual(after);
  const third = await ask({ message: "three", conversationId });
  expect((await load()).turns.map(({ response }) => response.id)).toEqual([first.id, edited.id, third.id]);
  expect((await readPatches()).slice(0, 2)).toEqual(after);
});
