/** Memory of the program: tools that say too much, readers that take too little. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeWhere, notLinux } from "../support/describe-where.ts";
import { watchMemory } from "../support/process-memory.ts";
import { createTestFolder, parseStream, runProgram, type ProgramOptions, toTexts } from "../support/sheaf.ts";
import { chooseRuns, reportFigure } from "../support/soak.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const isSoak = process.env.SHEAF_SOAK === "1";
const growthLimit = 64 * 1024 * 1024;

async function runWatched(
  turns: readonly object[],
  options: Partial<ProgramOptions> & { readonly everyMs?: number } = {},
) {
  const cwd = folders.newFolder();
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns }));
  let watch: ReturnType<typeof watchMemory> | undefined;
  const args = ["-p", "--model", "scripted:s.json", "--sandbox", "disabled", "--force", "go"];
  const result = await runProgram(args, {
    cwd,
    ...options,
    onStart(child) {
      watch = watchMemory(child.pid!, options.everyMs ?? 5);
      options.onStart?.(child);
    },
  });
  watch!.stop();
  return { ...result, memory: watch!.highest() };
}

const runCommand = (command: string) => [
  { events: [{ call: { tool: "run_terminal_cmd", arguments: { command, timeout_ms: 3000 } } }] },
  { events: [{ text: "Done." }] },
];

/** Takes a tenth of the rate ten times a second; each piece is a `data` event. */
async function readSlowly(stream: Readable, bytesPerSecond: number): Promise<void> {
  while (!stream.readableEnded) {
    stream.read(Math.min(bytesPerSecond / 10, stream.readableLength));
    await wait(100);
  }
}

/** Takes nothing for so long, then all. */
async function pause(stream: Readable, milliseconds: number): Promise<void> {
  await wait(milliseconds);
  stream.resume();
}

describeWhere("memory of the program", notLinux, () => {
  test(verifies(["R-14", "C9"], "stays bounded whatever a command prints"), { timeout: 180_000 }, async () => {
    const { memory: usual } = await runWatched(runCommand("echo hello"));
    const megabytes = chooseRuns(30, 100);
    const commands = {
      [`${megabytes} MB of lines`]: `yes 'a line of forty characters, more or less' | head -c ${megabytes}000000`,
      "one line of 50 MB": "head -c 50000000 /dev/zero | tr '\\0' x",
      "endless output": "yes",
      "20 MB of random bytes": "head -c 20000000 /dev/urandom",
    };
    for (const [name, command] of Object.entries(commands)) {
      const { code, stdout, memory, duration } = await runWatched(runCommand(command));
      expect([name, code]).toEqual([name, 0]);
      expect(memory - usual, name).toBeLessThan(growthLimit);
      expect(duration, name).toBeLessThan(15_000);
      expect(toTexts(parseStream(stdout)).join("")).toBe("Done.");
      reportFigure(
        "R-14",
        `${name}: +${((memory - usual) / 2 ** 20).toFixed(0)} MiB, ${(duration / 1000).toFixed(1)} s`,
      );
    }
  });

  test.each([
    // 5 MB at 1 KB/s take an hour and a half; the shorter form is slow enough that everything has to wait.
    ["takes little", (stream: Readable) => readSlowly(stream, isSoak ? 1000 : 100_000)],
    ["pauses", (stream: Readable) => pause(stream, isSoak ? 120_000 : 1000)],
  ])(
    verifies(["R-09", "C4", "C22"], "stays bounded while a reader %s: every byte comes, the result is the last line"),
    { timeout: 7_200_000 },
    async (way, read) => {
      const words = isSoak ? 42_000 : 2500;
      const turns = [{ events: [{ text: "word ", repeat: words }] }];
      const { memory: usual, stdout: whole } = await runWatched(turns);
      const slow = await runWatched(turns, {
        everyMs: 50,
        onStart({ stdout }) {
          stdout!.pause();
          void read(stdout!);
        },
      });
      expect(slow.code).toBe(0);
      expect(toTexts(parseStream(slow.stdout))).toEqual(toTexts(parseStream(whole)));
      expect(parseStream(slow.stdout).at(-1)).toMatchObject({ type: "result", result: "word ".repeat(words) });
      expect(slow.memory - usual).toBeLessThan(growthLimit);
      const figure = `a reader that ${way}: ${slow.stdout.length} bytes in ${(slow.duration / 1000).toFixed(0)} s`;
      reportFigure("R-09", `${figure}, memory ${((slow.memory - usual) / 2 ** 20).toFixed(0)} MiB`);
    },
  );
});
