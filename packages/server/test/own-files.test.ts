/** What clients learn of the server's own files: their names, never their folders (S-136). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { localOwner } from "@sheaf/store/store";
import { createThreadedSqliteStore } from "@sheaf/store/threaded-sqlite";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();
const hello = { turns: [{ events: [{ text: "Hello." }] }], after: "loop" };

async function start(args: readonly string[] = [], script: unknown = hello) {
  const server = await openApp({ args, script });
  return { server, folder: join(server.cwd, ".."), own: `scripted:${server.home}-script.json` };
}

const change = (server: TestApp, id: string, body: unknown): Promise<Response> =>
  server.send("PATCH", `/v1/conversations/${id}`, body);

test(verifies("S-136", "a scripted model has the name of its file, in every answer"), async () => {
  const { server, folder, own } = await start();
  const shown = server.model;
  const first = await server.ask({ message: "go", model: shown });
  const id = first.conversationId;
  const path = `/v1/conversations/${id}`;
  const answers = [
    await server.fetch("/v1/models"),
    await server.fetch("/v1/conversations"),
    await server.fetch(path),
    await server.fetch(`${path}/export?format=json`),
    await server.fetch(`${path}/export?format=markdown`),
    await change(server, id, { model: shown }),
    await change(server, id, { model: "gone" }),
    await server.chat({ message: "go", model: "gone" }),
  ];
  for (const answer of answers) expect(await answer.text()).not.toContain(folder);
  expect((await change(server, id, { model: own })).status).toBe(404);
});

test(
  verifies(["S-136", "X25"], "a conversation that names the file of its model is shown without, and goes on"),
  async () => {
    const { server, folder, own } = await start();
    const { conversationId } = await server.ask({ message: "go" });
    await server.store
      .forOwner(localOwner)
      .changeConversation(conversationId, { settings: { mode: "ask", model: own } });
    expect(await (await server.fetch(`/v1/conversations/${conversationId}`)).text()).not.toContain(folder);
    expect(await (await server.chat({ message: "go", conversationId })).json()).toMatchObject({ status: "completed" });
  },
);

test(verifies("S-136", "a scripted model that fails says so without its folder; the log has it"), async () => {
  const folder = folders.newFolder({ "broken.json": "no JSON", "short.json": JSON.stringify({ turns: hello.turns }) });
  const args = ["missing.json", "broken.json", "short.json"].flatMap((name) => [
    "--offer",
    `scripted:${folder}/${name}`,
  ]);
  const { server } = await start(args);
  const { conversationId } = await server.ask({ message: "go", model: "scripted:short.json" });
  for (const body of [
    { model: "scripted:missing.json" },
    { model: "scripted:broken.json" },
    { model: "scripted:short.json", conversationId },
  ]) {
    const text = await (await server.chat({ message: "go", ...body })).text();
    expect(JSON.parse(text)).toMatchObject({ documents: [{ metadata: { errorCode: "CONFIG_INVALID" } }] });
    expect(text).toContain(body.model.slice("scripted:".length));
    expect(text).not.toContain(folder);
  }
  expect(server.log()).toContain(`${folder}/missing.json`);
});

test(verifies("S-136", "two scripted models of one name are an error at the start"), async () => {
  await expect(start(["--offer", "scripted:/a/demo.json", "--offer", "scripted:/b/demo.json"])).rejects.toMatchObject({
    code: "USAGE",
    message: expect.stringContaining("both named scripted:demo.json") as string,
  });
});

test(verifies("S-136", "a damaged store is named without its folder"), async () => {
  const file = join(folders.newFolder(), "sheaf.db");
  const store = createThreadedSqliteStore(file);
  const server = await openApp({ store });
  const { conversationId } = await server.ask({ message: "go" });
  const other = new DatabaseSync(file);
  other.exec("UPDATE event_groups SET events = 'damaged'");
  other.close();
  const answer = await server.fetch(`/v1/conversations/${conversationId}`);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([500, expect.stringContaining("the store sheaf.db failed")]);
  expect(text).not.toContain(join(file, ".."));
  await server.stop();
  await store.close();
  writeFileSync(file, "no store");
  expect(() => createThreadedSqliteStore(file)).toThrow(file);
});
