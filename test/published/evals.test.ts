/** The behaviours of `npm run evals`, which need no model. */
import { expect, test } from "vitest";
import { behaviours } from "../../evals/behaviours.ts";
import { play } from "../../evals/play.ts";

test("there are at least 40", () => {
  expect(new Set(behaviours.map(({ name }) => name)).size).toBe(behaviours.length);
  expect(behaviours.length).toBeGreaterThanOrEqual(40);
});

test.concurrent.each(behaviours.map((behaviour) => [behaviour.name, behaviour] as const))(
  "%s",
  async (_, behaviour) => {
    const played = await play(behaviour);
    expect(behaviour.judge(played), JSON.stringify(played).slice(-2000)).toBe(true);
  },
);
