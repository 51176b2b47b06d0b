/** Keeps the logs that tests write by hand, beside those that stores write (watch-stores.js). */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";

/** Property tests make logs without end. */
const MAX_LOGS = 300;

let count = 0;

/** Returns the log. With SHEAF_ORACLE_LOGS it is appended to a file of that folder, too. */
export function keepLog(log: RunEvent[]): RunEvent[] {
  const folder = process.env["SHEAF_ORACLE_LOGS"];
  if (folder === undefined || (count += 1) > MAX_LOGS) return log;
  mkdirSync(folder, { recursive: true });
  const at = performance.timeOrigin + performance.now();
  const line = JSON.stringify({ at, log: `test ${process.pid} ${count}`, firstSeq: 1, events: JSON.stringify(log) });
  appendFileSync(join(folder, `${process.pid}-tests.ndjson`), `${line}\n`);
  return log;
}
