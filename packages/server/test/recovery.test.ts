import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { startRecovery } from "../src/recovery.ts";
import type { SharedStore } from "@sheaf/store/store";

test(verifies(["R-40", "R-53"], "a response whose files take long does not keep the others waiting"), async () => {
  const open = [
    { id: "chat_slow", owner: "ada" },
    { id: "chat_quick", owner: "ada" },
  ];
  const store = { listOpenResponses: async () => open } as unknown as SharedStore;
  const slow = Promise.withResolvers<boolean>();
  const asked: string[] = [];
  const recovered: string[] = [];
  const recovery = startRecovery({
    store,
    runner: { find: () => undefined },
    now: () => 0,
    takeOver: (id) => {
      asked.push(id);
      return id === "chat_slow" ? slow.promise : Promise.resolve(true);
    },
    onRecovered: (id) => recovered.push(id),
    onFailure: (error) => expect.unreachable(String(error)),
  });
  await recovery.look();
  expect([asked, recovered]).toEqual([["chat_slow", "chat_quick"], ["chat_quick"]]);
  open.pop();
  await recovery.look();
  expect(asked).toHaveLength(2);
  slow.resolve(true);
  await expect.poll(() => recovered).toEqual(["chat_quick", "chat_slow"]);
  await recovery.close();
});

test(verifies("R-01", "a server that goes down first completes the ends of lost responses"), async () => {
  const ended = Promise.withResolvers<boolean>();
  const store = {
    listOpenResponses: async () => [{ id: "chat_a", owner: "ada" }],
    forOwner: () => ({ claimResponse: () => ended.promise }),
  } as unknown as SharedStore;
  const recovery = startRecovery({
    store,
    runner: { find: () => undefined },
    now: () => 0,
    takeOver: undefined,
    onRecovered: (id) => expect.unreachable(id),
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const told: string[] = [];
  void recovery.look();
  await setImmediate();
  const closing = Promise.resolve(recovery.close()).then(() => told.push("closed"));
  await setImmediate();
  told.push("ended");
  ended.resolve(false);
  await closing;
  expect(told).toEqual(["ended", "closed"]);
});
