/** How long a call may say nothing. */

export interface SilenceLimit {
  /** Aborts after so long without a sign of the server. */
  readonly signal: AbortSignal;
  /** There was a sign. */
  readonly restart: () => void;
  /** A person may take as long as their question is open (true); it has closed (false). */
  readonly pause: (isWaiting: boolean) => void;
  readonly end: () => void;
}

export function createSilenceLimit(seconds: number): SilenceLimit {
  const silent = new AbortController();
  const fail = (): void => silent.abort(new Error(`it timed out: no sign of progress for ${seconds} s`));
  let timer: NodeJS.Timeout | undefined;
  let open = 0;
  const restart = (): void => {
    clearTimeout(timer);
    if (open === 0) timer = setTimeout(fail, seconds * 1000);
  };
  restart();
  return {
    signal: silent.signal,
    restart,
    pause(isWaiting) {
      open += isWaiting ? 1 : -1;
      restart();
    },
    end: () => clearTimeout(timer),
  };
}
