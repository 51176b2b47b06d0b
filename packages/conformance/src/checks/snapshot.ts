/** Checks of snapshots and the events after them (X3, N3). */
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import { demandEqual, explainDifference } from "../difference.ts";
import { openEvents, readEvents, startLong } from "../run-events.ts";
import { demand, demandNone, show, Skip, Violation } from "../violation.ts";

export const snapshotChecks = atLevel("resumable", [
  ["snapshot-of-ended", "X3 N3", "?snapshot=1 sends the whole state first, and the same end",
    async (context) => {
      for (const { responseId } of await context.samples()) await checkSnapshot(context, responseId);
    }],
  ["snapshot-while-running", "X3 N3", "a snapshot of a running response, and GET, can be continued after their last event",
    checkRunningSnapshot],
]); // prettier-ignore

async function checkSnapshot(context: Context, responseId: string): Promise<void> {
  const stream = await openEvents(context, responseId, "?snapshot=1");
  const events = await stream.readToEnd();
  checkSnapshotFirst(events);
  const stored = await context.waitForEnd(responseId);
  demandEqual(reduce(events), stored, "X3", "the snapshot and what follows differ from GET");
}

function checkSnapshotFirst([first, second]: readonly StreamEvent[]): void {
  if (first?.event !== "snapshot")
    throw new Violation("X3", `?snapshot=1 starts with ${first?.event}, not with snapshot`);
  const { lastEventId } = first.data.response.metadata;
  const isSame = lastEventId === undefined || lastEventId === first.id;
  demand(isSame, "X3", `the snapshot has the id ${first.id}, and lastEventId ${lastEventId}`);
  demand(second === undefined || second.id > first.id, "X3", `event ${second?.id} follows the snapshot ${first.id}`);
}

async function checkRunningSnapshot(context: Context): Promise<void> {
  const run = await startLong(context);
  const snapshot = await openEvents(context, run.responseId, "?snapshot=1");
  const first = await snapshot.find(({ event }) => event === "snapshot", "the snapshot");
  const got = await context.getResponse(run.responseId);
  const { lastEventId } = got.metadata;
  if (got.status !== "streaming") throw new Skip('the run of the prompt "long" ended before it could be looked at');
  demand(Number.isSafeInteger(lastEventId), "N3", `lastEventId of a streaming response is ${show(lastEventId)}`);
  const rest = await readEvents(context, run.responseId, `?after=${lastEventId}`);
  const stored = await context.waitForEnd(run.responseId);
  const events = await snapshot.readToEnd();
  checkSnapshotFirst(events);
  demandEqual(reduce(events), stored, "X3", "the snapshot and what follows differ from GET");
  const all = await run.stream.readToEnd();
  if (first.event === "snapshot") comparePlace(all, first.id, first.data.response, "X3", "the snapshot");
  comparePlace(all, lastEventId!, got, "N3", "GET while it runs");
  const seeded: StreamEvent = { id: lastEventId!, event: "snapshot", data: { response: got } };
  demandEqual(reduce([seeded, ...rest]), stored, "N3", "GET while it runs, with its tail, differs from GET at the end");
}

/** Checks that a running response is the sum of the events up to its place. */
function comparePlace(
  events: readonly StreamEvent[],
  place: number,
  response: ChatResponse,
  clause: string,
  what: string,
): void {
  const expected = reduce(events.filter(({ id }) => id <= place));
  const found = explainDifference(response.documents, expected.documents);
  demandNone(found, clause, `${what} names event ${place}, but has other content`);
}
