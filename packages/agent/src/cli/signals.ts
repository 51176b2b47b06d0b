/** Signals end a run; a second one ends the process (C23). */
import { SheafError } from "../errors.ts";

/** Exit codes by signal (C20). */
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

type SignalName = keyof typeof exitCodes;

export interface SignalWatch {
  /** Exit code of the signal that came; undefined if none did. */
  readonly exitCode: number | undefined;
}

/** Aborts `controller` at the first signal. */
export function watchSignals(controller: AbortController): SignalWatch {
  let received: SignalName | undefined;
  const onSignal = (name: SignalName): void => {
    if (received !== undefined) process.exit(exitCodes[name]);
    received = name;
    controller.abort(
      new SheafError("CANCELLED", `cancelled by ${name}`, { source: "user", details: `signal ${name}` }),
    );
  };
  for (const name of Object.keys(exitCodes) as SignalName[]) process.on(name, onSignal);
  return {
    get exitCode() {
      return received && exitCodes[received];
    },
  };
}
