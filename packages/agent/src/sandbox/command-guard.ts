/** One guard for all commands of a launcher. */
import { randomUUID } from "node:crypto";
import { type Guard, startGuard } from "./guard.ts";

/** Characters of a marker that all commands of a launcher share. */
const sharedLength = 18;

export interface CommandGuard {
  /** For a command that is about to start: from now on the guard stands by. */
  createMarker(): string;
  dismiss(): void;
}

/** Starts with the first command, and again if somebody has ended it. */
export function createCommandGuard(): CommandGuard {
  const shared = randomUUID().slice(0, sharedLength);
  let guard: Guard | undefined;
  return {
    createMarker() {
      if (!guard?.isStanding()) guard = startGuard(shared);
      return shared + randomUUID().slice(sharedLength);
    },
    dismiss: () => guard?.dismiss(),
  };
}
