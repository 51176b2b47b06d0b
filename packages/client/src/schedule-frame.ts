/** Schedules changes of a user interface. */

/** Calls `work` once, soon. Returns the function that cancels the call. */
export type Schedule = (work: () => void) => () => void;

/** Milliseconds between two changes without frames. */
const interval = 16;
/** Milliseconds between two changes of a page that may be hidden, and then has no frames. */
const hiddenInterval = 250;

/** Waits for the next frame of the page; four times a second while hidden, and by a timer outside of pages. */
export const scheduleFrame: Schedule = (work) => {
  if (typeof requestAnimationFrame !== "function") {
    const timer = setTimeout(work, interval);
    return () => clearTimeout(timer);
  }
  const cancel = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const run = (): void => {
    cancel();
    work();
  };
  const frame = requestAnimationFrame(run);
  const timer = setTimeout(run, hiddenInterval);
  return cancel;
};
