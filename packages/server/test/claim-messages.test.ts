/** Messages that wait, at a server whose store can't be written, or that goes down. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import type { SharedStore } from "@sheaf/store/store";
import { verifies } from "../../../test/support/verifies.ts";
import { startClaiming } from "../src/claim-messages.ts";

test("a server whose store takes no changes tries each once, and again at its next look", async () => {
  const messages = ["chat_a", "chat_b"].map((responseId) => ({ responseId, owner: "ada", text: "{}" }));
  const full = new SheafError("STORAGE_FULL", "the disk is full", { source: "storage" });
  const waiting: Partial<SharedStore["waiting"]> = {
    watch: () => () => undefined,
    async claim(_, starting) {
      await setImmediate();
      return messages.find(({ responseId }) => !starting.includes(responseId));
    },
    fail: () => Promise.reject(full),
  };
  const tries: string[] = [];
  const claiming = startClaiming({
    store: { waiting } as SharedStore,
    maxRunning: 9,
    async begin({ responseId }) {
      tries.push(responseId);
      await setImmediate();
      throw full;
    },
    onFailure: (error) => expect(error).toBe(full),
  });
  for (let look = 1; look <= 2; look += 1) {
    claiming.wake();
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(tries.length).toBeLessThanOrEqual(2 * look);
  }
  claiming.close();
});

test(
  verifies("R-38", "a message whose preparation breaks off as the server goes down waits for the next one"),
  async () => {
    const told: string[] = [];
    const messages = [{ responseId: "chat_a", owner: "ada", text: "{}" }];
    const waiting: Partial<SharedStore["waiting"]> = {
      watch: () => () => undefined,
      claim: async () => messages.pop(),
      giveBack: async (id) => void told.push(`back ${id}`),
      fail: async (id) => void told.push(`failed ${id}`),
    };
    const broken = Promise.withResolvers<never>();
    const store = { waiting } as SharedStore;
    const claiming = startClaiming({
      store,
      maxRunning: 9,
      begin: () => broken.promise,
      onFailure: (error) => expect.fail(String(error)),
    });
    claiming.wake();
    await setImmediate();
    claiming.close();
    broken.reject(new SheafError("INTERRUPTED", "the process of the workspace ended"));
    await expect.poll(() => told).toEqual(["back chat_a"]);
  },
);
