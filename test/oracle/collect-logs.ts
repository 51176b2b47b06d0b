/** From what watch-stores.js and keep-log.ts wrote during the tests to one file of logs. */
import { hash } from "node:crypto";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { createLineFile } from "./recording.ts";

/** A line of the spool. */
interface Group {
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
  /** The store and the row of the response. */
  readonly log: string;
  readonly firstSeq: number;
  /** A JSON array. */
  readonly events: string;
}

/** Logs longer than this are hundreds of copies of one event, and take longer to format than all others. UTF-16 units. */
const MAX_LENGTH = 1_000_000;

/** Writes `logs.ndjson.gz`, and returns how many logs came and how many of them are kept: one of each shape. */
export async function collectLogs(spool: string, folder: string): Promise<{ found: number; kept: number }> {
  const shapes = new Set<string>();
  const file = createLineFile(join(folder, "logs.ndjson.gz"));
  const logs = await readSpool(spool);
  for (const text of logs) {
    if (text.length > MAX_LENGTH) continue;
    const shape = hash("sha256", toShape(text));
    if (shapes.has(shape)) continue;
    shapes.add(shape);
    const events = JSON.parse(text) as RunEvent[];
    await file.write({ key: hash("sha256", text).slice(0, 16), events });
  }
  await file.end();
  return { found: logs.length, kept: shapes.size };
}

/** Puts the groups of each log together. A store that is made again numbers its logs anew. */
async function readSpool(spool: string): Promise<string[]> {
  const groups: Group[] = [];
  for (const path of globSync("*.ndjson", { cwd: spool })) {
    const lines = (await readFile(join(spool, path), "utf8")).split("\n");
    for (const line of lines) if (line.endsWith("}")) groups.push(JSON.parse(line) as Group);
  }
  const logs: { text: string; next: number }[] = [];
  const open = new Map<string, { text: string; next: number }>();
  for (const { log: name, firstSeq, events } of groups.toSorted((one, other) => one.at - other.at)) {
    let log = open.get(name);
    if (firstSeq === 1) {
      log = { text: "[]", next: 1 };
      open.set(name, log);
      logs.push(log);
    }
    // Another try of the same group, or a group of a transaction that was undone.
    if (log?.next !== firstSeq) continue;
    log.text = log.text === "[]" ? events : `${log.text.slice(0, -1)},${events.slice(1)}`;
    log.next += (JSON.parse(events) as RunEvent[]).length;
  }
  return logs.map(({ text }) => text);
}

/** A log without what differs between two runs of the same test. */
function toShape(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\/tmp\/[\w./-]+/g, "PATH")
    .replaceAll(/\b[0-9a-f]{16,}\b/g, "HASH")
    .replaceAll(/\d+/g, "0");
}
