/** Gathers reads of many callers at the same time into one statement. */
import { SheafError } from "@sheaf/base/errors";

/** Most reads in one statement. */
const MAX_READS = 200;

/** A row of such a statement: `place` is the number of its read in the statement, from 1. */
interface PlacedRow {
  readonly place: number;
}

/**
 * Returns a function that does one read, together with all reads that arrive while another statement runs. `toResult`
 * makes the result from the rows of its place; if it throws, only this read fails. `most`: reads in one statement. If a
 * damaged part of the database fails a statement, each of its reads runs alone.
 */
export function gatherReads<Read, Row extends PlacedRow, Result>(
  select: (reads: readonly Read[]) => Promise<readonly Row[]>,
  toResult: (rows: readonly Row[], read: Read) => Result,
  most = MAX_READS,
): (read: Read) => Promise<Result> {
  const waiting: ({ readonly read: Read } & PromiseWithResolvers<Result>)[] = [];
  let isReading = false;

  const readBatch = async (batch: typeof waiting): Promise<void> => {
    try {
      const found = Map.groupBy(await select(batch.map(({ read }) => read)), ({ place }) => place);
      for (const [index, { read, resolve }] of batch.entries()) {
        resolve(new Promise((settle) => settle(toResult(found.get(index + 1) ?? [], read))));
      }
    } catch (error) {
      if (batch.length > 1 && !(error instanceof SheafError && error.code === "STORAGE_LOCKED")) {
        for (const one of batch) await readBatch([one]);
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  };

  const readAll = async (): Promise<void> => {
    isReading = true;
    // Reads of the same turn of the event loop share a statement.
    await new Promise(setImmediate);
    while (waiting.length > 0) await readBatch(waiting.splice(0, most));
    isReading = false;
  };

  return (read) => {
    const outcome = { read, ...Promise.withResolvers<Result>() };
    waiting.push(outcome);
    if (!isReading) void readAll();
    return outcome.promise;
  };
}
