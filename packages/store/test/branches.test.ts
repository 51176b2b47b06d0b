/** Branches of a conversation that an earlier Sheaf wrote, which noted no parents (C251). */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createBranches } from "../src/branches.ts";
import { createSqliteStore } from "../src/sqlite.ts";

const folders = createTestFolder();

test(verifies("C251", "shown responses of an earlier Sheaf are a chain, and hidden ones have no place"), async () => {
  const file = join(folders.newFolder(), "sheaf.db");
  const store = createSqliteStore(file);
  const add = async (id: string): Promise<void> => {
    await store.createResponse({ id, conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 });
    await store.appendEvents(id, [{ type: "run_end", reason: "end_turn", seq: 1, time: 1 }], "synced");
  };
  const list = () => store.listResponses("conv_1");
  for (const id of ["a", "b"]) await add(id);
  await store.showBranch("conv_1", 1);
  await add("c");
  const database = new DatabaseSync(file);
  database.exec("UPDATE responses SET parent = NULL");
  database.close();
  const old = createBranches(await list());
  const ids = (parent: number) => old.listVersions(parent).map(({ id }) => id);
  expect([ids(0), ids(1), old.listBranch("b"), old.listBranch("c")?.length]).toEqual([["a"], ["c"], undefined, 2]);
  await store.showBranch("conv_1", 1);
  expect((await list()).map(({ parent, reverted }) => [parent, reverted])).toEqual([
    [0, false],
    [null, true],
    [1, true],
  ]);
  await store.close();
});
