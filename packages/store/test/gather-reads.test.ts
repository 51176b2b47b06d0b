import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { SheafError } from "@sheaf/base/errors";
import { gatherReads } from "../src/gather-reads.ts";

test(
  verifies("R-65", "reads of the same moment are one statement, and so are all that come while it runs"),
  async () => {
    const statements: (readonly number[])[] = [];
    const first = Promise.withResolvers<void>();
    const read = gatherReads(
      async (numbers: readonly number[]) => {
        statements.push(numbers);
        await first.promise;
        if (numbers.includes(0)) throw new SheafError("STORAGE_LOCKED", "no connection");
        return numbers.map((number, index) => ({ place: index + 1, double: 2 * number }));
      },
      ([row], number) => {
        if (number === 7) throw new Error("a damaged row");
        return row!.double;
      },
    );
    const early = [1, 7, 3].map(read);
    await expect.poll(() => statements).toEqual([[1, 7, 3]]);
    const late = Array.from({ length: 201 }, (_, index) => read(index));
    first.resolve();
    const outcomes = async (reads: readonly Promise<number>[]): Promise<unknown[]> =>
      (await Promise.allSettled(reads)).map((outcome) =>
        outcome.status === "fulfilled" ? outcome.value : String(outcome.reason),
      );
    expect(await outcomes(early)).toEqual([2, "Error: a damaged row", 6]);
    const values = await outcomes(late);
    expect([values[0], values[199], values[200]]).toEqual([
      "SheafError: no connection",
      "SheafError: no connection",
      400,
    ]);
    expect(statements.map(({ length }) => length)).toEqual([3, 200, 1]);
  },
);

test(verifies("R-65", "at most so many reads are one statement"), async () => {
  const lengths: number[] = [];
  const read = gatherReads(
    async (numbers: readonly number[]) => {
      lengths.push(numbers.length);
      return numbers.map((_, index) => ({ place: index + 1 }));
    },
    ([row]) => row!.place,
    2,
  );
  await Promise.all([1, 2, 3, 4, 5].map(read));
  expect(lengths).toEqual([2, 2, 1]);
});

test("a read of a damaged part fails alone", async () => {
  const read = gatherReads(
    async (numbers: readonly number[]) => {
      if (numbers.includes(2)) throw new SheafError("STORAGE_CORRUPT", "a damaged page");
      return numbers.map((number, index) => ({ place: index + 1, number }));
    },
    ([row]) => row!.number,
  );
  const outcomes = await Promise.allSettled([1, 2, 3].map(read));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(outcomes).toMatchObject([{ value: 1 }, { reason: { code: "STORAGE_CORRUPT" } }, { value: 3 }]);
});
