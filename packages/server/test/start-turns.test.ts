import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createStartTurns } from "../src/start-turns.ts";

test("one start per turn of the event loop, the first one at once, in order", async () => {
  const takeTurn = createStartTurns();
  const begun: number[] = [];
  const starts = [1, 2, 3].map(async (number) => {
    await takeTurn();
    begun.push(number);
  });
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toEqual([1]);
  await nextTurn();
  expect(begun).toEqual([1, 2]);
  await Promise.all(starts);
  expect(begun).toEqual([1, 2, 3]);
  await nextTurn();
  await takeTurn();
});
