/** Starts of responses, spread over turns of the event loop. */

/** Resolves when it is the caller's turn. */
export type TakeStartTurn = () => Promise<void>;

/**
 * One start per turn of the event loop, in the order of the calls; the first one at once. Starting a response takes
 * milliseconds of the one thread: a hundred at once would hold back every stream that runs until all have begun.
 */
export function createStartTurns(): TakeStartTurn {
  const waiting: (() => void)[] = [];
  let isTaken = false;

  const giveNext = (): void => {
    const next = waiting.shift();
    isTaken = next !== undefined;
    if (!next) return;
    setImmediate(giveNext);
    next();
  };

  return () =>
    new Promise((resolve) => {
      if (isTaken) {
        waiting.push(resolve);
        return;
      }
      isTaken = true;
      setImmediate(giveNext);
      resolve();
    });
}
