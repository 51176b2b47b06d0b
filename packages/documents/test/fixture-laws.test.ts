/** The laws of the stream over everything that was recorded: each answer and each provider's body is one run. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent, RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { toResponse } from "../src/assembler.ts";
import { createModelStreamDecoder, type ModelStreamFormat } from "../src/model-streams/model-stream-decoder.ts";
import { toRunEvents } from "../src/model-streams/to-run-events.ts";
import { loadRecordedBodies } from "./model-streams/recorded-bodies.ts";
import { checkLaws, clauses } from "./stream-laws.ts";

/** The run log of one recorded body, as `sheaf convert` makes it. */
async function toLog(format: ModelStreamFormat, chunks: Iterable<Uint8Array | string>): Promise<RunEvent[]> {
  let calls = 0;
  const decoder = createModelStreamDecoder(format, { newCallId: () => `call_${(calls += 1)}` });
  function* read(): Generator<ModelEvent> {
    for (const chunk of chunks) yield* decoder.push(chunk);
    yield* decoder.end();
  }
  let time = 1_771_842_600_000;
  const log: RunEvent[] = [];
  const options = { now: () => (time += 5), newId: () => "1", report: decoder.report };
  for await (const event of toRunEvents(read(), options)) log.push(event);
  return log;
}

describeWithFixtures("providers", (folder) => {
  test.each(loadRecordedBodies(folder).bodies)(verifies(clauses, "$row.file"), async ({ format, body }) => {
    const log = await toLog(format, [body]);
    expect(log.at(-1)?.type).toBe("run_end");
    checkLaws(log);
  });
});

describeWithFixtures("markdown", (folder) => {
  const answers = readdirSync(join(folder, "answers"));
  test.each(answers)(verifies([...clauses, "N25"], "%s"), async (name) => {
    const text = readFileSync(join(folder, "answers", name), "utf8");
    const log = await toLog("markdown", text.match(/[^]{1,7}/g) ?? []);
    checkLaws(log);
    const whole = toResponse(await toLog("markdown", [text]));
    expect(toResponse(log).documents).toEqual(whole.documents);
  });
});
