/** The moment at which a conversation takes its next message. */
import { expect, test } from "vitest";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { openApp } from "../../../test/support/open-app.ts";

/** A store that takes its time to forget a response, as a database far away does. */
function createSlowStore(store: SharedStore): SharedStore {
  return {
    ...store,
    forOwner: (owner) => createSlowStore(store.forOwner(owner)),
    leaveResponse: () => new Promise(() => undefined),
  };
}

test("a reader that sees the end of an answer can send the next message at once", async () => {
  const app = await openApp({ store: createSlowStore(createSqliteStore(":memory:")) });
  const { conversationId } = await app.ask({ message: "one" });
  for (const message of ["two", "three"]) {
    const answer = await app.chat({ message, conversationId });
    expect([message, answer.status, await answer.json()]).toMatchObject([message, 200, { status: "completed" }]);
  }
  await app.stop();
});
