/** Checks the ends of runs by their readers (X7). */
import { reduce, type ChatResponse } from "@sheaf/protocol";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import { demandEqual } from "../difference.ts";
import { startLong } from "../run-events.ts";
import { demand, show } from "../violation.ts";

export const cancelChecks = atLevel("resumable", [
  ["disconnect-continues", "X7", "a run continues when its only reader disconnects",
    async (context) => {
      const run = await startLong(context);
      run.stream.close();
      const { status, metadata } = await context.waitForEnd(run.responseId);
      demand(
        status === "completed",
        "X7",
        `the run ended with ${status}, ${show(metadata.finishReason)}, when its reader disconnected`,
      );
    }],
  ["disconnect-cancels", "X7 N2", 'with onDisconnect "cancel", a run ends when its reader disconnects',
    async (context) => {
      const run = await startLong(context, { onDisconnect: "cancel" });
      run.stream.close();
      checkCancelled(await context.waitForEnd(run.responseId), "X7");
    }],
  ["cancel", "X7 N2 N52", "cancel, once or repeated, ends a run with an error document and done", checkCancel],
]); // prettier-ignore

/** Checks that a cancelled response has the right status and error (N2). */
export function checkCancelled({ id, status, documents, metadata }: ChatResponse, clause: string): void {
  demand(status === "error", clause, `${id} was cancelled, and has the status ${status}`);
  const last = documents.at(-1);
  const code = last?.type === "error" ? last.metadata.errorCode : undefined;
  demand(code === "CANCELLED", "N2", `${id} was cancelled, and ends with ${last?.type} ${show(code)}`);
  const { finishReason = "cancelled" } = metadata;
  demand(finishReason === "cancelled", "N2", `${id} was cancelled, and has the finishReason ${finishReason}`);
}

async function checkCancel(context: Context): Promise<void> {
  const run = await startLong(context);
  const path = `/v1/responses/${run.responseId}/cancel`;
  await context.http.expect(202, "X7", "POST", path, { body: {} });
  await context.http.expect(202, "X7", "POST", path, { body: {} });
  const events = await run.stream.readToEnd();
  demand(events.at(-1)?.event === "done", "N51", "the stream of a cancelled run has no done");
  const stored = await context.waitForEnd(run.responseId);
  checkCancelled(stored, "X7");
  demandEqual(reduce(events), stored, "N53", "stream and GET of a cancelled run differ");
  await context.http.expect(202, "X7", "POST", path, { body: {} });
  const later = await context.getResponse(run.responseId);
  demandEqual(stored, later, "X7", "a late cancel changed the response");
}
