/** When a user interface shows what arrived. */

/** Calls `work` once, soon. Returns the function that cancels the call. */
export type Schedule = (work: () => void) => () => void;

/** Milliseconds between two changes where nothing is drawn. */
const interval = 16;
/** Milliseconds between two changes of a page that may be hidden, and then has no frames. */
const hiddenInterval = 250;

/** In the next frame of the page; four times a second if it is hidden, and by a timer where there are no frames. */
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
