/** Signals: the last line is out, the code is right, nothing runs on. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing, testDeep } from "../support/describe-where.ts";
import { findProcesses } from "../support/processes.ts";
import { createTestFolder, parseStream, runProgram, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
/** How often each case runs: once, or as often as SHEAF_SOAK_RUNS says (50 in the contract). */
const runs = Array.from({ length: Number(process.env.SHEAF_SOAK_RUNS ?? 1) }, (_, index) => index + 1);

const signals = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGQUIT", 131],
] as const;

describe("a pipe in the place of a file", () => {
  const script = JSON.stringify({ turns: [{ events: [{ text: "[1]" }] }] });

  test.each([
    ["--output-schema", ["--model", "offline", "--output-schema", "pipe"]],
    ["scripted:", ["--model", "scripted:pipe"]],
  ])(verifies(["C23", "C24"], "that nobody writes keeps no run beyond a signal or its time: %s"), async (_, args) => {
    const cwd = folders.newFolder();
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const cancelled = await runProgram(["-p", ...args, "go"], {
      cwd,
      onStart: (child) => void setTimeout(() => child.kill("SIGTERM"), 800),
    });
    expect([cancelled.code, cancelled.stderr]).toEqual([143, "sheaf: CANCELLED: cancelled by SIGTERM\n"]);
    const late = await runSheaf(["-p", "--timeout", "0.5", ...args, "go"], { cwd });
    expect([late.code, late.stderr]).toEqual([7, expect.stringMatching(/^sheaf: BUDGET_TIME: [^\n]*--timeout\n$/)]);
    expect(late.duration).toBeLessThan(10_000);
  });

  test("is read to its end, as of <(command)", async () => {
    const cwd = folders.newFolder({ "s.json": script, "schema.json": '{"type":"array"}' });
    const command = 'exec "$@" --model scripted:<(cat s.json) --output-schema <(sleep 0.2; cat schema.json) go';
    const { code, stdout, stderr } = await runProgram(["-p"], { cwd, wrapper: ["bash", "-c", command, "bash"] });
    expect([code, stderr]).toEqual([0, ""]);
    expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "success", structured_output: [1] });
  });
});

describe.each(signals.flatMap(([name, exitCode]) => runs.map((run) => [name, exitCode, run] as const)))(
  "%s (exit %i, run %i)",
  (name, exitCode) => {
    test(verifies(["C20", "C22", "C23", "R-12"], "before the first byte of the model"), async () => {
      const cwd = folders.newFolder();
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: [{ stall: true }] }] }));
      let sent = false;
      const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
        cwd,
        onOutput(output, child) {
          if (sent || !output.includes('"user"')) return;
          sent = true;
          child.kill(name);
        },
      });
      expect([code, stderr]).toEqual([exitCode, `sheaf: CANCELLED: cancelled by ${name}\n`]);
      expect(parseStream(stdout).map(({ type }) => type)).toEqual(["system", "user", "result"]);
    });

    test(verifies(["C20", "C22", "R-12"], "in the last line: one result, and a code that agrees with it"), async () => {
      const cwd = folders.newFolder();
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: [{ text: "word ", repeat: 2000 }] }] }));
      let sent = false;
      const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
        cwd,
        onOutput(output, child) {
          if (sent || output.split("\n").length < 900) return;
          sent = true;
          child.kill(name);
        },
      });
      const lines = parseStream(stdout);
      const results = lines.filter(({ type }) => type === "result");
      expect(results).toHaveLength(1);
      expect(lines.at(-1)).toBe(results[0]);
      // A signal after the last line changes nothing.
      if (results[0]!.subtype === "success") expect([code, stderr]).toEqual([0, ""]);
      else expect([code, stderr]).toEqual([exitCode, `sheaf: CANCELLED: cancelled by ${name}\n`]);
    });

    test(verifies(["C20", "C22", "C23", "R-12"], "while the model is silent"), async () => {
      const cwd = folders.newFolder();
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: [{ text: "half" }, { stall: true }] }] }));
      let sentAt = 0;
      const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
        cwd,
        onOutput(output, child) {
          if (sentAt > 0 || !output.includes("half")) return;
          sentAt = performance.now();
          child.kill(name);
        },
      });
      expect(performance.now() - sentAt).toBeLessThan(2000);
      expect(code).toBe(exitCode);
      expect(stderr).toBe(`sheaf: CANCELLED: cancelled by ${name}\n`);
      expect(parseStream(stdout).at(-1)).toMatchObject({
        subtype: "error",
        result: "half",
        error: { code: "CANCELLED" },
      });
    });

    test(
      verifies(["C8", "C22", "C23", "R-13"], "in a tool: its call is completed, its whole process tree is gone"),
      async () => {
        skipIfMissing(missingBubblewrap);
        const cwd = folders.newFolder();
        const marker = `86${exitCode}${Date.now() % 100_000}`;
        // A child in its own session, after a double fork, and one that ignores SIGTERM.
        const command = `(setsid sh -c 'sleep ${marker}1 & wait' &) ; (trap "" TERM; sleep ${marker}2) & touch ready; sleep ${marker}3`;
        const events = [{ text: "t" }, { call: { tool: "run_terminal_cmd", arguments: { command } } }];
        writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events }] }));
        let sent = false;
        const { code, stdout } = await runProgram(["-p", "--force", "--model", "scripted:s.json", "go"], {
          cwd,
          onOutput(output, child) {
            if (sent || !output.includes('"started"')) return;
            sent = true;
            void (async () => {
              while (!existsSync(join(cwd, "ready"))) await sleep(10);
              await sleep(50);
              child.kill(name);
            })();
          },
        });
        expect(code).toBe(exitCode);
        const lines = parseStream(stdout);
        expect(lines.slice(-2).map(({ subtype }) => subtype)).toEqual(["completed", "error"]);
        for (let tries = 0; tries < 50 && findProcesses(marker).length > 0; tries += 1) await sleep(100);
        expect(findProcesses(marker)).toEqual([]);
      },
    );
  },
);

test(verifies("C23", "a second signal ends at once"), async () => {
  skipIfMissing(missingBubblewrap);
  const cwd = folders.newFolder();
  const command = "trap '' TERM INT; sleep 30";
  const events = [{ text: "t" }, { call: { tool: "run_terminal_cmd", arguments: { command } } }];
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events }] }));
  let sent = false;
  const { code, duration } = await runProgram(["-p", "--force", "--model", "scripted:s.json", "go"], {
    cwd,
    onOutput(output, child) {
      if (sent || !output.includes('"started"')) return;
      sent = true;
      child.kill("SIGINT");
      setTimeout(() => child.kill("SIGINT"), 100);
    },
  });
  expect(code).toBe(130);
  expect(duration).toBeLessThan(5000);
});

test(verifies(["C1", "C22", "C23"], "while the prompt is still awaited on stdin"), async () => {
  const cwd = folders.newFolder();
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: [{ text: "x" }] }] }));
  const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:s.json"], {
    cwd,
    hasOpenInput: true,
    // Long enough for it to be listening, also on a machine that is busy.
    onStart: (child) => setTimeout(() => child.kill("SIGTERM"), 1500),
  });
  expect(stderr).toBe("sheaf: CANCELLED: cancelled by SIGTERM\n");
  expect(code).toBe(143);
  expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "CANCELLED" } });
});

testDeep(verifies(["C20", "C23", "R-12"], "while nobody reads stdout: a stuck reader is not waited for"), async () => {
  // What the shell's pipe takes is stuck in the middle of the answer, or in the last line.
  const cases = [
    ["word ", 50_000, /^sheaf: CANCELLED: cancelled by SIGTERM\n$/, "CANCELLED"],
    ["x", 40_000, /^sheaf: CANCELLED: cancelled by a signal, after the run, while stdout took nothing\n$/, undefined],
    ["word ", 50_000, /^sheaf: BUDGET_TIME: the run took longer than 2 s: /, "BUDGET_TIME"],
  ] as const;
  await Promise.all(
    cases.map(async ([text, repeat, message, storedCode]) => {
      const cwd = folders.newFolder();
      const home = join(cwd, "home");
      const session = "7f1e9a52-6a0f-4f1b-9c41-1f1c7d2f3a11";
      const events = [{ text: text.repeat(repeat) }];
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events }] }));
      const start = `{ sh -c 'echo $$ >pid; exec "$@"' sh "$@"; echo $? >code; }`;
      const reader = "{ until [ -s code ]; do sleep 0.1; done; }";
      const isTimed = storedCode === "BUDGET_TIME";
      const limit = isTimed ? ["--timeout", "2"] : [];
      const running = runProgram(["-p", "--session-id", session, "--model", "scripted:s.json", ...limit, "go"], {
        cwd,
        home,
        wrapper: ["sh", "-c", `${start} | ${reader}`, "sh"],
      });
      await sleep(4000);
      if (!isTimed) process.kill(Number(readFileSync(join(cwd, "pid"), "utf8")), "SIGTERM");
      const { stderr } = await running;
      expect(stderr).toMatch(message);
      expect(readFileSync(join(cwd, "code"), "utf8")).toBe(isTimed ? "7\n" : "143\n");
      const shown = parseStream((await runSheaf(["show", session], { cwd, home })).stdout).at(-1)!;
      expect((shown.error as { code: string } | undefined)?.code).toBe(storedCode);
    }),
  );
});
