/** Many processes on one store, and stores that were damaged. */
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { createTestFolder, parseStream, runProgram } from "../support/sheaf.ts";
import { chooseRuns, createRandom, reportFigure, soakTimeout } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const hello = { turns: [{ events: [{ text: "Hello. ", repeat: 20, chunk: 2 }] }], after: "loop" };
const args = ["-p", "--model", "scripted:s.json", "--sandbox", "disabled"];

function createPlace(script: object = hello): { cwd: string; home: string } {
  const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
  return { cwd, home: `${cwd}-home` };
}

describe("several processes on one store", () => {
  test(
    verifies("R-05", "write side by side without a failed turn"),
    async () => {
      const place = createPlace();
      const end = Date.now() + (process.env.SHEAF_SOAK === "1" ? 60_000 : 3000);
      let turns = 0;
      const work = async (): Promise<void> => {
        do {
          const { code, stderr } = await runProgram([...args, "go"], place);
          expect([code, stderr]).toEqual([0, ""]);
          turns += 1;
        } while (Date.now() < end);
      };
      await Promise.all(Array.from({ length: 8 }, work));
      reportFigure("R-05", `8 processes at a time, ${turns} turns, 0 failed`);
    },
    soakTimeout,
  );

  test(
    verifies("R-05", "start at once on a store that is not there yet"),
    async () => {
      const rounds = chooseRuns(1, 20);
      for (let round = 0; round < rounds; round += 1) {
        const place = createPlace();
        const results = await Promise.all(Array.from({ length: 20 }, () => runProgram([...args, "go"], place)));
        expect(results.map(({ code }) => code)).toEqual(results.map(() => 0));
      }
      reportFigure("R-05", `${rounds} rounds of 20 cold starts, 20 of 20 each`);
    },
    soakTimeout,
  );

  test(
    verifies(["R-05", "C20"], "on one conversation: one owner, the other is refused, nothing is interleaved"),
    async () => {
      const rounds = chooseRuns(5, 100);
      const place = createPlace({
        turns: [{ events: [{ text: "a" }, { wait_ms: 60 }, { text: "b" }] }],
        after: "loop",
      });
      const session = "123e4567-e89b-42d3-a456-426614174000";
      let refused = 0;
      let answered = 0;
      for (let round = 0; round < rounds; round += 1) {
        const prompt = [...args, "--resume", session, `round ${round}`];
        const results = await Promise.all([runProgram(prompt, place), runProgram(prompt, place)]);
        for (const { code, stderr } of results) {
          expect([0, 9]).toContain(code);
          if (code === 9) expect(stderr).toContain("CONVERSATION_BUSY");
        }
        refused += results.filter(({ code }) => code === 9).length;
        answered += results.filter(({ code }) => code === 0).length;
      }
      const store = createSqliteStore(join(place.home, "sheaf.db"));
      const responses = await store.listResponses(`conv_${session}`);
      expect(responses.map(({ position }) => position)).toEqual(responses.map((_, index) => index + 1));
      expect(responses.filter(({ ended }) => ended).length).toBe(responses.length);
      for (const { id } of responses) {
        const log = await store.readEvents(id);
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      }
      await store.close();
      expect(responses).toHaveLength(answered);
      reportFigure(
        "R-05",
        `${rounds} rounds of two on one conversation: ${answered} answered, ${refused} told, 0 interleaved`,
      );
    },
    soakTimeout,
  );

  test(
    verifies("R-05", "an owner that was stopped for long writes nothing more when it wakes up"),
    async () => {
      const rounds = chooseRuns(1, 50);
      // Side by side, because each waits for long; not too many, because each is a process.
      for (let begun = 0; begun < rounds; begun += 10) {
        await Promise.all(Array.from({ length: Math.min(10, rounds - begun) }, stopOwner));
      }
      reportFigure("R-05", `${rounds} owners stopped, 0 stale writes`);
    },
    soakTimeout,
  );
});

/** One owner of a conversation is stopped, a second one comes, the first one wakes up. */
async function stopOwner(): Promise<void> {
  const place = createPlace({
    turns: [{ events: [{ text: "begin" }, { wait_ms: 200 }, { text: "end" }] }],
    after: "loop",
  });
  const session = "123e4567-e89b-42d3-a456-426614174000";
  const prompt = [...args, "--resume", session];
  let pid = 0;
  const stopped = Promise.withResolvers<void>();
  const first = runProgram([...prompt, "one"], {
    ...place,
    onOutput(output, child) {
      if (pid !== 0 || !output.includes('"begin"')) return;
      pid = child.pid!;
      child.kill("SIGSTOP");
      stopped.resolve();
    },
  });
  await stopped.promise;
  // Longer than a lease lasts.
  await wait(process.env.SHEAF_SOAK === "1" ? 120_000 : 11_000);
  const second = await runProgram([...prompt, "two"], place);
  expect([second.code, second.stderr]).toEqual([0, ""]);
  process.kill(pid, "SIGCONT");
  const { code } = await first;
  expect(code).not.toBe(0);
  const store = createSqliteStore(join(place.home, "sheaf.db"));
  const responses = await store.listResponses(`conv_${session}`);
  for (const { id } of responses) {
    const log = await store.readEvents(id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)?.type).toBe("run_end");
  }
  await store.close();
}

describe("a damaged store", () => {
  test(
    verifies(["R-06", "C20"], "never crashes a start, is never deleted, and what can be read is read"),
    async () => {
      const cases = chooseRuns(6, 50);
      const random = createRandom(5);
      const place = createPlace();
      for (const prompt of ["one", "two", "three"]) await runProgram([...args, prompt], place);
      const whole = readFileSync(join(place.home, "sheaf.db"));
      let readable = 0;
      for (let number = 0; number < cases; number += 1) {
        const home = join(place.cwd, `.damaged-${number}`);
        mkdirSync(home);
        cpSync(place.home, home, { recursive: true });
        const bytes = damage(whole, number, random);
        const file = join(home, "sheaf.db");
        writeFileSync(file, bytes);
        const before: Stats = statSync(file);
        const listed = await runProgram(["ls", "--all", "--json"], { cwd: place.cwd, home });
        expect([0, 9], listed.stderr).toContain(listed.code);
        if (listed.code === 9) expect(listed.stderr).toMatch(/^sheaf: STORAGE_CORRUPT: [^\n]+\n$/);
        const sessions = listed.code === 0 ? (JSON.parse(listed.stdout) as { session_id: string }[]) : [];
        for (const { session_id } of sessions) {
          const shown = await runProgram(["show", session_id], { cwd: place.cwd, home });
          expect([0, 2, 9], shown.stderr).toContain(shown.code);
          expect(shown.stderr).not.toMatch(/\n\s+at /);
          if (shown.code === 0) readable += 1;
        }
        const run = await runProgram([...args, "go"], { cwd: place.cwd, home });
        expect([0, 9], run.stderr).toContain(run.code);
        if (run.stdout !== "") expect(parseStream(run.stdout).at(-1)?.type).toBe("result");
        expect(statSync(file).size).toBeGreaterThanOrEqual(before.size);
      }
      reportFigure("R-06", `${cases} damaged stores, 0 crashes, 0 deleted, ${readable} sessions still readable`);
    },
    soakTimeout,
  );
});

/** Cut at a random place, or with flipped bytes on a random page. */
function damage(whole: Uint8Array, number: number, random: () => number): Uint8Array {
  if (number % 2 === 0) return whole.slice(0, Math.floor(whole.length * random()));
  const bytes = Uint8Array.from(whole);
  const page = Math.floor((bytes.length / 4096) * random()) * 4096;
  for (let index = 0; index < 64; index += 1) {
    const at = page + Math.floor(4096 * random());
    if (at < bytes.length) bytes[at] = bytes[at]! ^ 0xff;
  }
  return bytes;
}
