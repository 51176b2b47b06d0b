import { expect, test } from "vitest";
import { createConversationLanes, type WhenBusy } from "../../../src/run/conversations/conversation-lanes.ts";

/** Lanes, and who has entered, was ended or was refused, in that order. */
function openLanes() {
  const lanes = createConversationLanes();
  const told: string[] = [];
  const releases = new Map<string, () => void>();
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const enter = async (name: string, whenBusy: WhenBusy, signal: AbortSignal): Promise<void> => {
    try {
      releases.set(name, await lanes.enter("conv_1", whenBusy, signal));
      told.push(`${name} in`);
      lanes.setCurrent("conv_1", { abort: ({ code }) => told.push(`${name} ${code}`) });
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      told.push(`${name} not: ${code ?? message}`);
    }
  };
  return {
    async enter(name: string, whenBusy: WhenBusy, signal = new AbortController().signal) {
      void enter(name, whenBusy, signal);
      await settle();
    },
    async leave(name: string) {
      releases.get(name)!();
      await settle();
    },
    take: () => told.splice(0),
  };
}

test("of two messages that cancel, the later one runs, and at once", async () => {
  const lanes = openLanes();
  await lanes.enter("a", "reject");
  await lanes.enter("b", "cancel");
  await lanes.enter("c", "cancel");
  expect(lanes.take()).toEqual(["a in", "a CANCELLED", "a CANCELLED", "b not: CANCELLED"]);
  await lanes.leave("a");
  expect(lanes.take()).toEqual(["c in"]);
});

test("a message that cancels reaches who entered in the same moment", async () => {
  const lanes = openLanes();
  const entering = lanes.enter("a", "reject");
  await Promise.all([entering, lanes.enter("b", "cancel")]);
  expect(lanes.take()).toEqual(["a in", "a CANCELLED"]);
});

test("a message that waits for nothing is refused, and one that gives up leaves the conversation", async () => {
  const lanes = openLanes();
  const leaving = new AbortController();
  await lanes.enter("a", "reject");
  await lanes.enter("b", "cancel", leaving.signal);
  await lanes.enter("c", "reject");
  leaving.abort(new Error("gone"));
  await lanes.leave("a");
  await lanes.enter("d", "reject");
  expect(lanes.take()).toEqual(["a in", "a CANCELLED", "c not: CONVERSATION_BUSY", "b not: gone", "d in"]);
});

test("a message that gave up before it cancels ends nobody, and the conversation gets free", async () => {
  const lanes = openLanes();
  await lanes.enter("a", "reject");
  await lanes.enter("b", "cancel");
  await lanes.enter("c", "cancel", AbortSignal.abort(new Error("gone")));
  await lanes.leave("a");
  await lanes.leave("b");
  await lanes.enter("d", "reject");
  expect(lanes.take()).toEqual(["a in", "a CANCELLED", "c not: gone", "b in", "d in"]);
});
