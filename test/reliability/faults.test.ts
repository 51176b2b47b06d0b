/** The n-th write, sync or rename of a reference turn fails, or kills the process, for every n. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { createTestFolder, parseStream, runProgram, toLines } from "../support/sheaf.ts";
import { reportFigure, soakTimeout } from "../support/soak.ts";
import { describeWithStrace } from "../support/strace.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const calls = "pwrite64,fdatasync,fsync,ftruncate,rename,renameat2,link,linkat";

const script = {
  turns: [
    {
      events: [
        { text: "I write. " },
        { call: { tool: "write_file", arguments: { target_file: "a.txt", content: "one\n" } } },
      ],
    },
    { events: [{ text: "Done." }] },
  ],
};

function createPlace(): { cwd: string; home: string } {
  const cwd = folders.newFolder({ "s.json": JSON.stringify(script) });
  return { cwd, home: `${cwd}-home` };
}

const args = ["-p", "--model", "scripted:s.json", "--sandbox", "disabled", "go"];

/** How many of these calls a reference turn makes. */
async function countCalls(): Promise<number> {
  const place = createPlace();
  const trace = join(place.cwd, "trace");
  const wrapper = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", `trace=${calls}`, "-o", trace];
  expect((await runProgram(args, { ...place, wrapper })).code).toBe(0);
  return readFileSync(trace, "utf8").split("\n").length - 1;
}

async function readLogs(home: string): Promise<number[][]> {
  const store = createSqliteStore(join(home, "sheaf.db"));
  try {
    const logs: number[][] = [];
    for (const { id } of await store.listConversations({ limit: 100 })) {
      for (const response of await store.listResponses(id)) {
        logs.push((await store.readEvents(response.id)).map(({ seq }) => seq));
      }
    }
    return logs;
  } finally {
    await store.close();
  }
}

describeWithStrace("a fault at the n-th write of a turn", () => {
  test.each([
    ["fails with EIO", "error=EIO"],
    ["fails with ENOSPC", "error=ENOSPC"],
    ["kills the process", "signal=SIGKILL"],
  ])(
    verifies(["R-02", "C20"], "that %s: what was shown is stored, and new turns are stored again"),
    async (_title, fault) => {
      const total = await countCalls();
      expect(total).toBeGreaterThan(10);
      const step = process.env.SHEAF_SOAK === "1" ? 1 : Math.ceil(total / 6);
      let failures = 0;
      let runs = 0;
      for (let when = 1; when <= total; when += step) {
        const place = createPlace();
        const wrapper = [
          "strace",
          "-f",
          "-qq",
          "--seccomp-bpf",
          "-o",
          "/dev/null",
          "-e",
          `inject=${calls}:${fault}:when=${when}`,
        ];
        const { code, stdout } = await runProgram(args, { ...place, wrapper });
        runs += 1;
        if (code !== 0) failures += 1;
        if (fault.startsWith("error")) {
          // It ends by itself, and says how: with an answer, or with a reason.
          expect([0, 1, 6, 9], `call ${when}`).toContain(code);
          if (code !== 0 && stdout !== "") expect(parseStream(stdout).at(-1)?.type).toBe("result");
        }
        // The same store works again, and no log in it has a gap.
        writeFileSync(join(place.cwd, "s.json"), JSON.stringify(script));
        const again = await runProgram(args, place);
        expect(again.code, `call ${when}: ${again.stderr}`).toBe(0);
        for (const log of await readLogs(place.home)) expect(log).toEqual(log.map((_, index) => index + 1));
        expect(toLines(again.stdout).at(-1)).toContain('"subtype":"success"');
      }
      reportFigure("R-02", `${fault}: ${runs} of ${total} calls, ${failures} runs ended with a reason, 0 gaps`);
    },
    soakTimeout,
  );
});
