import { describe, expect, test } from "vitest";
import { createDeletions } from "../../src/sidebar/deletions.ts";

function open({ fails = false } = {}) {
  const done: string[] = [];
  const timers = new Set<() => void>();
  const deletions = createDeletions({
    remove(id, isLeaving) {
      done.push(`${id}${isLeaving ? " leaving" : ""}`);
      return fails ? Promise.reject(new Error("refused")) : Promise.resolve();
    },
    wait(_, then) {
      timers.add(then);
      return () => timers.delete(then);
    },
    onEnd: (id) => done.push(`${id} ended`),
    onFailure: (error) => done.push(String(error)),
  });
  const letTimePass = async (): Promise<void> => {
    for (const then of timers) then();
    await new Promise((resolve) => void setTimeout(resolve));
  };
  return { deletions, done, letTimePass, ids: () => deletions.getSnapshot().map(({ id }) => id) };
}

describe("deletions", () => {
  test("happen when their time is over, each once", async () => {
    const { deletions, done, letTimePass, ids } = open();
    deletions.add({ id: "a", title: "A" });
    deletions.add({ id: "a", title: "A" });
    deletions.add({ id: "b", title: "B" });
    expect([ids(), done]).toEqual([["a", "b"], []]);
    await letTimePass();
    expect(ids()).toEqual([]);
    expect(done.toSorted()).toEqual(["a", "a ended", "b", "b ended"]);
  });

  test("do not happen once undone, or while somebody is at the button", async () => {
    const { deletions, done, letTimePass, ids } = open();
    deletions.add({ id: "a", title: "A" });
    deletions.add({ id: "b", title: "B" });
    deletions.undo("a");
    deletions.release("a");
    deletions.hold("b");
    await letTimePass();
    expect([ids(), done]).toEqual([["b"], []]);
    deletions.release("b");
    await letTimePass();
    expect(done).toEqual(["b", "b ended"]);
  });

  test("cannot be undone, or begin again, once the request is sent", async () => {
    const { deletions, done, letTimePass, ids } = open();
    deletions.add({ id: "a", title: "A" });
    const passing = letTimePass();
    deletions.undo("a");
    deletions.release("a");
    expect(ids()).toEqual(["a"]);
    await passing;
    await letTimePass();
    expect([ids(), done]).toEqual([[], ["a", "a ended"]]);
  });

  test("happen when the page ends", async () => {
    const { deletions, done } = open();
    deletions.add({ id: "a", title: "A" });
    deletions.hold("a");
    deletions.carryOutAll();
    expect(done).toEqual(["a leaving"]);
  });

  test("that the server refuses bring the conversation back", async () => {
    const { deletions, done, letTimePass, ids } = open({ fails: true });
    deletions.add({ id: "a", title: "A" });
    await letTimePass();
    expect([ids(), done]).toEqual([[], ["a", "Error: refused"]]);
  });
});
