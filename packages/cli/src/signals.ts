/** Signals end a run; a second one ends the process (C23). */
import { SheafError } from "@sheaf/base/errors";

/** Exit codes by signal (C20). */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

type SignalName = keyof typeof exitCodes;

/** The source of signals: the process. */
export interface SignalSource {
  on(name: SignalName, listener: (name: SignalName) => void): unknown;
  off(name: SignalName, listener: (name: SignalName) => void): unknown;
}

/** Control over a run from outside. */
export interface RunControl {
  /** The signal for the run, which the first signal of the process or `abort` aborts. */
  readonly signal: AbortSignal;
  readonly abort: (reason: SheafError) => void;
  /** Exit code of the received signal; undefined before one. */
  readonly exitCode: number | undefined;
  readonly close: () => void;
}

/** Listens from now on. A signal before the start of the run ends it at its first event. */
export function createRunControl({
  signals,
  exit,
}: {
  readonly signals: SignalSource;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
}): RunControl {
  const controller = new AbortController();
  let received: SignalName | undefined;
  const onSignal = (name: SignalName): void => {
    if (received !== undefined) return exit(exitCodes[name]);
    received = name;
    controller.abort(
      new SheafError("CANCELLED", `cancelled by ${name}`, { source: "user", details: `signal ${name}` }),
    );
  };
  for (const name of Object.keys(exitCodes) as SignalName[]) signals.on(name, onSignal);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    close() {
      for (const name of Object.keys(exitCodes) as SignalName[]) signals.off(name, onSignal);
    },
    get exitCode() {
      return received && exitCodes[received];
    },
  };
}
