import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openSqliteDump } from "../src/sqlite-dump.ts";
import { createSqliteStore } from "../src/sqlite.ts";

const folders = createTestFolder();

async function createWaiting() {
  const file = join(folders.newFolder(), "sheaf.db");
  const store = createSqliteStore(file);
  await store.waiting.add({ responseId: "chat_b", conversationId: "conv_1", text: "{}", request: undefined }, 9);
  await store.waiting.claim(9, []);
  return { file, store };
}

test(verifies("R-62", "a message that was just given back waits for a copy, though none may start it"), async () => {
  const { file, store } = await createWaiting();
  await store.waiting.giveBack("chat_b");
  expect(await store.waiting.claim(9, [])).toBeUndefined();
  const dump = openSqliteDump(file);
  expect(dump.waiting).toBe("chat_b");
  await dump.close();
  await store.waiting.remove("chat_b");
  const later = openSqliteDump(file);
  expect(later.waiting).toBeUndefined();
  await later.close();
  await store.close();
});

test.each([
  ["is told to a reader that returns after 23 hours", 23, { failure: "why" }],
  ["goes after 25 hours", 25, undefined],
])(verifies("R-91", "a failed message %s"), async (_, hours, expected) => {
  const { file, store } = await createWaiting();
  await store.waiting.fail("chat_b", "why");
  await store.close();
  const database = new DatabaseSync(file);
  database.prepare("UPDATE orders SET failed_at = failed_at - ?").run(hours * 3_600_000);
  database.close();
  const next = createSqliteStore(file);
  await next.waiting.claim(9, []);
  expect(await next.waiting.findFailure("chat_b")).toEqual(expected);
  await next.close();
});
