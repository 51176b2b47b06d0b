/** Digests by which a replay finds out whether the run does the same again. */
import { createHash } from "node:crypto";
import type { RunEventBody } from "@sheaf/protocol";

/** 16 hex digits: enough to tell two runs apart, no protection against a forger. */
export function toDigest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

/** Digest of each event, without its number and time. */
export function toEventDigests(events: readonly (RunEventBody & { seq?: number; time?: number })[]): string[] {
  return events.map(({ seq: _seq, time: _time, ...body }) => toDigest(body));
}
