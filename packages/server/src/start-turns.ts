/** Spreads the starts of responses over turns of the event loop. */

/** Resolves when it is the caller's turn. */
export type TakeStartTurn = () => Promise<void>;

/**
 * Allows one start per turn of the event loop, in the order of the calls; the first one at once. A start blocks the
 * thread for milliseconds: a hundred at once would stop every running stream until all have started.
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
