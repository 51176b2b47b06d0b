/** One guard for all commands of a launcher. */
import { randomUUID } from "node:crypto";
import { type Guard, startGuard, type StarterOptions } from "./guard.ts";

/** Characters of a marker that all commands of a launcher share. */
const sharedLength = 18;

export interface CommandGuard {
  /** From now on the guard stands by. */
  stand(): void;
  /** For a command that is about to start; the guard stands by. */
  createMarker(): string;
  /** A line of shell for the guard, behind the marker of what it starts. */
  order(line: string): void;
  dismiss(): void;
}

/** Starts with the first command, and again if somebody has ended it. `findStarter`: for a guard that starts processes. */
export function createCommandGuard(findStarter: () => StarterOptions | undefined = () => undefined): CommandGuard {
  const shared = randomUUID().slice(0, sharedLength);
  let guard: Guard | undefined;
  const stand = (): void => {
    if (!guard?.isStanding()) guard = startGuard(shared, findStarter());
  };
  return {
    stand,
    createMarker() {
      stand();
      return shared + randomUUID().slice(sharedLength);
    },
    order: (line) => guard?.order(line),
    dismiss: () => guard?.dismiss(),
  };
}
