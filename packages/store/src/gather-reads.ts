/** Reads of the database by many callers at the same time, in one statement. */

/** Reads in one statement, at most. */
const MAX_READS = 200;

/** A row of such a statement: `place` is the number of its read in the statement, from 1. */
interface PlacedRow {
  readonly place: number;
}

/**
 * No read waits. The result does one read, together with all reads that arrive while another statement runs. `toResult`
 * makes the result from the rows of its place; if it throws, only this read fails.
 */
export function gatherReads<Read, Row extends PlacedRow, Result>(
  select: (reads: readonly Read[]) => Promise<readonly Row[]>,
  toResult: (rows: readonly Row[], read: Read) => Result,
): (read: Read) => Promise<Result> {
  const waiting: ({ readonly read: Read } & PromiseWithResolvers<Result>)[] = [];
  let isReading = false;

  const readBatch = async (batch: typeof waiting): Promise<void> => {
    const selected = select(batch.map(({ read }) => read)).then((rows) => Map.groupBy(rows, ({ place }) => place));
    for (const [index, { read, resolve }] of batch.entries()) {
      resolve(selected.then((found) => toResult(found.get(index + 1) ?? [], read)));
    }
    await selected.catch(() => undefined);
  };

  const readAll = async (): Promise<void> => {
    isReading = true;
    // Reads of the same turn of the event loop share a statement.
    await new Promise(setImmediate);
    while (waiting.length > 0) await readBatch(waiting.splice(0, MAX_READS));
    isReading = false;
  };

  return (read) => {
    const outcome = { read, ...Promise.withResolvers<Result>() };
    waiting.push(outcome);
    if (!isReading) void readAll();
    return outcome.promise;
  };
}
