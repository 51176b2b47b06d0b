/** Commands in the background through the real program. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { findProcesses } from "../support/processes.ts";
import { createTestFolder, parseStream, runProgram, runSheaf, type SheafResult } from "../support/sheaf.ts";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Lets a scripted model make these calls, each in a separate turn, and then answer. */
async function runCalls(
  calls: readonly Call[],
  args: readonly string[] = ["--background-wait", "0"],
): Promise<SheafResult & { readonly cwd: string }> {
  const cwd = folders.newFolder();
  const turns = [
    ...calls.map((call) => ({ events: [{ call }] })),
    { events: [{ text: "end" }] },
    { events: [{ text: ", read" }] },
  ];
  writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns }));
  return { ...(await runSheaf(["-p", "--model", "scripted:s.json", ...args, "go"], { cwd })), cwd };
}

/** Results of the tool calls, in order. */
function toResults(stdout: string): Record<string, Record<string, unknown>>[] {
  return parseStream(stdout)
    .filter(({ subtype }) => subtype === "completed")
    .map(({ tool_call: call }) => {
      const [value] = Object.values(
        call as Record<string, { readonly result: Record<string, Record<string, unknown>> }>,
      );
      return value!.result;
    });
}

const background = (command: string): Call => ({
  tool: "run_terminal_cmd",
  arguments: { command, is_background: true },
});
const foreground = (command: string): Call => ({ tool: "run_terminal_cmd", arguments: { command } });

describeWithBubblewrap("in the background", () => {
  test(verifies(["R-13", "S-30"], "a server is reached by the commands after it, and by nobody else"), async () => {
    const serve = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 4711, Listen => 5, ReuseAddr => 1) or die; print "ready\\n"; $| = 1; while ($c = $s->accept) { print $c "served\\n"; close $c }'`;
    const ask = "for i in {1..100}; do cat < /dev/tcp/127.0.0.1/4711 && break; sleep 0.1; done";
    const { code, stdout, stderr } = await runCalls([background(serve), foreground(ask)]);
    expect([code, stderr]).toEqual([0, ""]);
    const [started, asked] = toResults(stdout);
    expect(started!.success).toMatchObject({ exitCode: 0 });
    expect(asked!.success).toMatchObject({ stdout: "served\n" });
    const outside = await runCalls([foreground("cat < /dev/tcp/127.0.0.1/4711")]);
    expect(toResults(outside.stdout)[0]!.failure!.stderr).toContain("refused");
  });

  test(verifies(["R-13", "C8"], "what still runs at the end is ended, and listed with what it said last"), async () => {
    const command = "trap 'echo bye; exit' TERM; touch ready; while :; do sleep 0.05; done";
    const wait = foreground("until [ -e ready ]; do sleep 0.05; done");
    const { code, stdout } = await runCalls([background(command), wait]);
    expect(code).toBe(0);
    const lines = parseStream(stdout);
    const [, , last] = lines.filter(({ subtype }) => subtype === "completed");
    expect(last!.tool_call).toMatchObject({ function: { name: "read_terminal" } });
    expect(JSON.stringify(last)).toContain("bye");
    expect(JSON.stringify(last)).toContain("It was ended.");
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      subtype: "success",
      result: "end",
      notices: [
        {
          code: "COMMAND_ENDED",
          message: expect.stringMatching(/^Sheaf ended bg_1 \(trap .*which still ran when the run ended$/) as string,
        },
      ],
    });
  });

  test(verifies("C169", "a build is waited for, and its result goes to the model"), async () => {
    const { code, stdout } = await runCalls([background("sleep 1; echo built; exit 3")], []);
    const lines = parseStream(stdout);
    expect(JSON.stringify(lines.findLast(({ subtype }) => subtype === "completed"))).toMatch(
      /built.*It ended, exit code 3/,
    );
    expect([code, lines.at(-1)]).toMatchObject([0, { result: "end, read", num_turns: 3 }]);
    expect(lines.at(-1)).not.toHaveProperty("notices");
  });

  test(verifies("C169", "a server is not waited for, and the result names it"), async () => {
    const serve = `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 4711, Listen => 5) or die; $s->accept'`;
    const { code, stdout } = await runCalls([background(serve)], []);
    const message = expect.stringMatching(/^Sheaf ended bg_1 \(exec perl .*which waits for connections$/) as string;
    expect([code, parseStream(stdout).at(-1)]).toMatchObject([0, { notices: [{ code: "COMMAND_ENDED", message }] }]);
  });

  test(verifies(["C169", "C24"], "the time budget ends the wait"), async () => {
    const { code, stdout } = await runCalls([background("while :; do date; sleep 0.2; done")], ["--timeout", "3"]);
    expect([code, parseStream(stdout).at(-1)]).toMatchObject([7, { error: { code: "BUDGET_TIME" } }]);
    const wrong = await runCalls([], ["--background-wait", "900"]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      'sheaf: USAGE: --background-wait "900" is not a whole number from 0 to 600\n',
    ]);
  });

  test(verifies("S-30", "files in /tmp are shared by the commands of a run"), async () => {
    const { stdout } = await runCalls([
      background("while :; do date > /tmp/log; sleep 0.05; done"),
      // The command in the background may start late on a busy machine.
      foreground(
        "for i in 1 2 3 4 5 6 7 8 9; do test -s /tmp/log && break; sleep 0.1; done; test -s /tmp/log && echo there",
      ),
    ]);
    expect(toResults(stdout)[1]!.success).toMatchObject({ stdout: "there\n" });
  });
});

/** How often each case runs: once, or as often as SHEAF_SOAK_RUNS says (50 in the contract). */
const runs = Array.from({ length: Number(process.env.SHEAF_SOAK_RUNS ?? 1) }, (_, index) => index + 1);

describeWithBubblewrap("when Sheaf is killed", () => {
  test.each(runs)(
    verifies("R-13", "nothing of its commands is left, whatever they did to get away (run %i)"),
    async (round) => {
      const marker = `7${process.pid}${round}`;
      const escape = `(setsid sh -c "sleep ${marker}1 & sleep ${marker}2" &); (trap "" TERM HUP; env -i sleep ${marker}3 &)`;
      const cwd = folders.newFolder();
      const calls = [background(`${escape}; sleep ${marker}4`), foreground(`${escape}; touch ready; sleep ${marker}5`)];
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: calls.map((call) => ({ events: [{ call }] })) }));
      let killedAt = 0;
      const { signal } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
        cwd,
        onStart(child) {
          void (async () => {
            while (!existsSync(join(cwd, "ready")) || findProcesses(marker).length < 8) await sleep(10);
            killedAt = performance.now();
            child.kill("SIGKILL");
          })();
        },
      });
      expect(signal).toBe("SIGKILL");
      while (findProcesses(marker).length > 0 && performance.now() - killedAt < 5000) await sleep(20);
      expect(findProcesses(marker)).toEqual([]);
    },
  );

  test.each(runs)(
    verifies("R-13", "while its sandbox starts: nothing of it is left, and nothing of it comes later (run %i)"),
    async (round) => {
      const marker = `6${process.pid}${round}`;
      const cwd = folders.newFolder();
      const call = foreground(`sleep ${marker}1 & sleep ${marker}2`);
      writeFileSync(join(cwd, "s.json"), JSON.stringify({ turns: [{ events: [{ call }] }] }));
      const { signal } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
        cwd,
        onStart(child) {
          void (async () => {
            while (findProcesses(`${marker}2`).length === 0) await sleep(1);
            // Another moment of the start in each run.
            await sleep(round % 10);
            child.kill("SIGKILL");
          })();
        },
      });
      expect(signal).toBe("SIGKILL");
      // Long enough for a sandbox that went on starting to have its command running.
      await sleep(500);
      for (let tries = 0; tries < 225 && findProcesses(marker).length > 0; tries += 1) await sleep(20);
      expect(findProcesses(marker)).toEqual([]);
    },
  );
});
