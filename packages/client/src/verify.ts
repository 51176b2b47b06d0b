/** Checks the grammar of a stream while it is read (X13): for tests, not for production. */
import { createVerifier, type VerifierOptions, type Violation } from "@sheaf/protocol/verify";
import type { Update } from "./response-stream.ts";

/** A server broke a clause of the contract. */
export class ViolationError extends Error {
  override readonly name = "ViolationError";
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(`${violation.clause}: ${violation.message} (event ${violation.eventId}).`);
    this.violation = violation;
  }
}

/**
 * Yields the same updates; throws at the first event that breaks the grammar (N44 to N51).
 * The stream must start with its first event or a snapshot, so don't use it for `follow` with `after`.
 * @throws ViolationError
 */
export async function* verifyUpdates(
  updates: AsyncIterable<Update>,
  options: VerifierOptions = {},
): AsyncGenerator<Update> {
  const verifier = createVerifier(options);
  for await (const update of updates) {
    throwIf(verifier.push(update.event));
    yield update;
  }
  throwIf(verifier.end());
}

function throwIf(violation: Violation | undefined): void {
  if (violation !== undefined) throw new ViolationError(violation);
}
