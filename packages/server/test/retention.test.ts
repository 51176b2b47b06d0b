import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRetention } from "../src/retention.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";

const folders = createTestFolder();
const DAY_MS = 86_400_000;

test(verifies("R-63", "batch by batch, with the files of what was deleted"), async () => {
  const dataFolder = folders.newFolder();
  const store = createSqliteStore(":memory:");
  for (let index = 0; index < 120; index += 1) {
    const id = `${index}`;
    await store.addConversation({
      id: `conv_${id}`,
      workspace: "/w",
      title: "t",
      createdAt: 1,
      updatedAt: index < 110 ? 1 : 9 * DAY_MS,
      settings: {},
      responses: [{ id: `chat_${id}`, createdAt: 1, events: [] }],
    });
  }
  const states = join(dataFolder, "undo/a/refs/sheaf");
  for (const id of ["conv_1", "conv_119"]) mkdirSync(join(states, id), { recursive: true });
  const counts: number[] = [];
  const retention = startRetention({
    store,
    keepDays: 7,
    dataFolder,
    now: () => 10 * DAY_MS,
    onDeleted: (count) => void counts.push(count),
    onFailure: (error) => {
      throw error;
    },
  });
  await expect.poll(() => counts).toEqual([110]);
  await retention.close();
  expect(await store.countConversations()).toBe(10);
  expect(existsSync(join(states, "conv_1"))).toBe(false);
  expect(existsSync(join(states, "conv_119"))).toBe(true);
  await store.close();
});
