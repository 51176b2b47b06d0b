/** Whether a person sits at a descriptor. */
import { fstatSync } from "node:fs";

/** `process.stdin.isTTY` would make a stream of what is no terminal, and load what streams need. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor);
  } catch {
    return false;
  }
}
