/** Checks that the rows of a store are logs: numbers without a gap, one start, one end (N4, R-62). */
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { StoreDump, TableRow } from "./store-tables.ts";

/** Most problems in the list; the report counts the others. */
const MAX_LISTED = 50;

export interface StoreReport {
  readonly conversations: number;
  readonly responses: number;
  readonly events: number;
  /** Number of responses that have not ended. */
  readonly open: number;
  readonly problemCount: number;
  readonly problems: readonly string[];
}

/** Reads every row once, with memory for one row and one number per conversation. @throws SheafError STORAGE_… */
export async function checkStore(dump: Pick<StoreDump, "rows" | "problems">): Promise<StoreReport> {
  const problems: string[] = [];
  const counts = { conversations: 0, responses: 0, events: 0, open: 0, problemCount: 0 };
  const report = (problem: string): void => {
    counts.problemCount += 1;
    if (problems.length < MAX_LISTED) problems.push(problem);
  };
  dump.problems.forEach(report);
  try {
    await checkRows(dump, counts, report);
  } catch (error) {
    if (!(error instanceof SheafError) || error.code !== "STORAGE_CORRUPT") throw error;
    report(error.message);
  }
  return { ...counts, problems };
}

async function checkRows(
  dump: Pick<StoreDump, "rows">,
  counts: { conversations: number; responses: number; events: number; open: number },
  report: (problem: string) => void,
): Promise<void> {
  const conversations = new Set<number>();
  for await (const { key, settings, id } of dump.rows("conversations")) {
    conversations.add(key as number);
    counts.conversations += 1;
    if (parseJson(settings as string) === undefined) report(`conversation ${id}: its settings are not JSON`);
  }
  const groups = dump.rows("event_groups")[Symbol.asyncIterator]();
  let group = await groups.next();
  for await (const row of dump.rows("responses")) {
    counts.responses += 1;
    if (row["ended"] !== true) counts.open += 1;
    if (!conversations.has(row["conversation"] as number)) report(`response ${row["id"]}: its conversation is missing`);
    const log = createLogCheck(row, report);
    for (; !group.done && Number(group.value["response"]) <= Number(row["key"]); group = await groups.next()) {
      if (group.value["response"] === row["key"]) counts.events += log.add(group.value);
      else report(toOrphan(group.value));
    }
    log.end();
  }
  for (; !group.done; group = await groups.next()) report(toOrphan(group.value));
}

function toOrphan({ response }: TableRow): string {
  return `events of a response that does not exist (key ${response})`;
}

/** Checks the groups of one response, in order. */
function createLogCheck({ id, ended }: TableRow, report: (problem: string) => void) {
  let seq = 0;
  let ends = 0;
  let isDamaged = false;
  const fail = (problem: string): void => {
    if (!isDamaged) report(`response ${id}: ${problem}`);
    isDamaged = true;
  };
  return {
    /** Returns the number of events in a group. */
    add({ first_seq: first, last_seq: last, events }: TableRow): number {
      const found = readEvents(events as string);
      if (!found) {
        fail(`the group from event ${first} on is not JSON`);
        seq = Number(last);
        return 0;
      }
      for (const event of found) {
        if (event.seq !== seq + 1) fail(`event ${String(event.seq)} follows event ${seq}`);
        if (ends > 0) fail(`event ${String(event.seq)} follows the end`);
        if (event.type === "run_end") ends += 1;
        seq = Number(event.seq);
      }
      if (found[0]?.seq !== first || found.at(-1)?.seq !== last)
        fail(`the group of events ${first} to ${last} has others`);
      return found.length;
    },
    end(): void {
      if (ended === true && ends === 0) fail("it has ended, and its log has no end");
      if (ended !== true && ends > 0) fail("its log has an end, and it has not ended");
    },
  };
}

function readEvents(text: string): readonly { readonly seq: unknown; readonly type: unknown }[] | undefined {
  const events = parseJson(text);
  const isList = Array.isArray(events) && events.every((event) => typeof event === "object" && event !== null);
  return isList ? (events as { seq: unknown; type: unknown }[]) : undefined;
}
