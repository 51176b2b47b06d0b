/** Commands that run on beside the calls behind them, through the tools of a run. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { CommandOutcome, CommandRequest, CommandRunner } from "@sheaf/sandbox/command";
import { createBackgroundCommands, type Wait } from "../../src/tools/background-commands.ts";
import { readTerminalTool } from "../../src/tools/read-terminal.ts";
import { runTerminalCmdTool } from "../../src/tools/run-terminal-cmd.ts";
import type { CallableTool } from "../../src/tools/registry.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { testDeep } from "../../../../test/support/describe-where.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { findByCommandLine } from "../../../sandbox/test/processes.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { createContext, createFolder } from "./search-workspace.ts";

interface Terminals {
  readonly run: (command: string, timeout_ms: number) => Promise<ToolOutcome>;
  /** Live output. */
  readonly live: string[];
  readonly start: (command: string, timeout_ms?: number) => Promise<ToolOutcome>;
  readonly read: (
    terminal_id: string,
    options?: { readonly wait_ms?: number; readonly end?: boolean },
  ) => Promise<ToolOutcome>;
  readonly end: () => Promise<void>;
}

function createTerminals(signal = new AbortController().signal): Terminals {
  const live: string[] = [];
  const context = createContext(createFolder(), { signal, emitOutput: (_, text) => live.push(text) });
  const end = async (): Promise<void> => {
    await context.background.end();
    await context.commands.end();
  };
  onTestFinished(end);
  return {
    live,
    run: (command, timeout_ms) => runTerminalCmdTool.run({ command, timeout_ms }, context),
    start: (command, timeout_ms) =>
      runTerminalCmdTool.run(
        { command, is_background: true, ...(timeout_ms !== undefined && { timeout_ms }) },
        context,
      ),
    read: (terminal_id, options = {}) => readTerminalTool.run({ terminal_id, ...options }, context),
    end,
  };
}

describe("a command in the background", () => {
  test(verifies("N37", "is announced while it runs, with the id by which its output is read"), async () => {
    const { start, read } = createTerminals();
    const started = await start("echo ready; sleep 0.6; echo more >&2; sleep 60");
    expect(started).toMatchObject({
      status: "success",
      output: "ready\n",
      effect: { exitCode: 0, background: true, terminalId: "bg_1", timedOut: false },
    });
    expect(started.note).toContain("bg_1");
    expect(await read("bg_1", { wait_ms: 20_000 })).toMatchObject({
      status: "success",
      output: "more\n",
      note: "It is still running.",
      effect: { kind: "terminal", isRunning: true, exitCode: null },
    });
    expect(await read("bg_1")).toMatchObject({ output: "", note: "It is still running." });
  });

  test("that ends at once is reported at once", async () => {
    const { start } = createTerminals();
    const outcome = await start("echo no; exit 3");
    expect(outcome).toMatchObject({ output: "no\n", note: "Exit code 3.", effect: { exitCode: 3, background: false } });
  });

  test(verifies("R-13", "is ended on request with all its processes, and by its timeout"), async () => {
    const { start, read } = createTerminals();
    const period = `9${process.pid}.25`;
    await start(`setsid sleep ${period} & sleep ${period}`);
    expect(await read("bg_1", { end: true })).toMatchObject({ note: "It was ended.", effect: { isRunning: false } });
    expect(findByCommandLine(`sleep ${period}`)).toEqual([]);
    await start("sleep 60", 300);
    expect(await read("bg_2", { wait_ms: 20_000 })).toMatchObject({ note: "Its timeout ended it." });
  });

  test(verifies("R-13", "ends with the run"), async () => {
    const { start, end } = createTerminals();
    const period = `8${process.pid}.25`;
    await start(`sleep ${period}`);
    await end();
    expect(findByCommandLine(`sleep ${period}`)).toEqual([]);
  });

  test(verifies("R-14", "keeps bounded output until it is read: head and tail"), async () => {
    const { start, read } = createTerminals();
    await start("sleep 0.3; head -c 3000000 /dev/zero | tr '\\0' x; echo end");
    let outcome = await read("bg_1", { wait_ms: 20_000 });
    while ((outcome.effect as { isRunning: boolean }).isRunning && !outcome.output.endsWith("end\n"))
      outcome = await read("bg_1", { wait_ms: 20_000 });
    expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(256 * 1024);
  });

  test("that nobody started is an error that names the others", async () => {
    const { start, read } = createTerminals();
    expect(await read("bg_1")).toMatchObject({
      error: { code: "UNKNOWN_TERMINAL", message: expect.stringContaining("none") },
    });
    await start("sleep 60");
    expect(await read("bg_7")).toMatchObject({ error: { message: expect.stringContaining("bg_1") } });
  });

  test("is one of eight at most", async () => {
    const { start, read } = createTerminals();
    const started = await Promise.all(Array.from({ length: 8 }, () => start("sleep 60")));
    expect(started.map(({ status }) => status)).toEqual(Array(8).fill("success"));
    expect(await start("sleep 60")).toMatchObject({ status: "error", error: { code: "TOO_MANY_COMMANDS" } });
    await read("bg_3", { end: true });
    expect(await start("sleep 60")).toMatchObject({ effect: { terminalId: "bg_9" } });
  }, 20_000);
});

describe("a command at its time limit", () => {
  test(verifies(["R-23", "N37"], "goes on in the background; no output is lost or told twice"), async () => {
    const { run, read, live } = createTerminals();
    const outcome = await run("echo first; sleep 1; echo second >&2; exit 3", 400);
    expect(outcome).toMatchObject({
      status: "success",
      output: "first\n",
      effect: { exitCode: 124, timedOut: true, background: true, terminalId: "bg_1", stdout: "first\n" },
    });
    expect(outcome.note).toMatch(/within 400 ms and continues in the background as bg_1.*read_terminal/);
    expect(await read("bg_1", { wait_ms: 20_000 })).toMatchObject({ output: "second\n" });
    expect(await read("bg_1", { wait_ms: 20_000 })).toMatchObject({
      output: "",
      note: "It ended, exit code 3.",
      effect: { exitCode: 3, isRunning: false },
    });
    expect(live.join("")).toBe("first\n");
  });

  test(verifies(["R-23", "R-24"], "without output or end is ended on request, or with the run"), async () => {
    const { run, read, end } = createTerminals();
    const period = `7${process.pid}.25`;
    expect(await run(`sleep ${period}`, 100)).toMatchObject({ output: "", effect: { terminalId: "bg_1" } });
    expect(await run(`trap '' TERM; sleep ${period}; sleep ${period}`, 100)).toMatchObject({
      effect: { terminalId: "bg_2" },
    });
    expect(await read("bg_1", { end: true })).toMatchObject({ note: "It was ended." });
    await end();
    expect(findByCommandLine(`sleep ${period}`)).toEqual([]);
  });

  test(verifies(["R-23", "R-14"], "shows later output beyond the limit of live output"), async () => {
    const { run, read } = createTerminals();
    await run("head -c 3000000 /dev/zero | tr '\\0' x; sleep 1; echo later", 600);
    let text = "";
    while (!text.endsWith("later\n")) text += (await read("bg_1", { wait_ms: 20_000 })).output;
    expect(text).toBe("later\n");
  });

  test(
    verifies("R-23", "is ended if eight are running in the background"),
    async () => {
      const { start, run } = createTerminals();
      await Promise.all(Array.from({ length: 8 }, () => start("sleep 60")));
      expect(await run("echo a; sleep 60", 200)).toMatchObject({
        output: "a\n",
        note: "The command ended at its timeout of 200 ms.",
        effect: { exitCode: 124, timedOut: true, background: false },
      });
    },
    20_000,
  );

  test(verifies("R-23", "is not started by an abort before it, and is cancelled by one until then"), async () => {
    const { run } = createTerminals(AbortSignal.abort());
    expect(await run("echo a", 1000)).toMatchObject({ status: "cancelled", output: "" });
    const later = createTerminals(AbortSignal.timeout(300));
    expect(await later.run("echo a; sleep 60", 30_000)).toMatchObject({ status: "cancelled", output: "a\n" });
    expect(await later.read("bg_1")).toMatchObject({ error: { code: "UNKNOWN_TERMINAL" } });
  });
});

describe("a wait for a command", () => {
  /** A command that is seen like this at each look, a second apart. */
  function createPlayed(
    looks: readonly { readonly prints?: string; readonly used?: number; readonly listens?: boolean }[],
  ) {
    let time = 0;
    let request: CommandRequest | undefined;
    const outcome = { exitCode: 0, signal: "", timedOut: false, cancelled: false } as CommandOutcome;
    const left = [...looks];
    const running = Promise.withResolvers<CommandOutcome>();
    const commands: CommandRunner = {
      permissions: [],
      run(asked) {
        request = asked;
        asked.onStart?.(() => ({ used: left[0]?.used ?? 0, listens: left[0]?.listens ?? false }));
        return running.promise;
      },
      end: async () => undefined,
    };
    const pause: Wait = async (period) => {
      time += period;
      const { prints } = left[0] ?? {};
      if (prints !== undefined) request!.onBackgroundOutput!(Buffer.from(prints), "stdout");
      if (left.length > 1) left.shift();
      else if (prints === "end") running.resolve(outcome);
    };
    const command = createBackgroundCommands(commands, pause).start({
      command: "make",
      workingDirectory: "/",
      timeoutMs: undefined,
    });
    const wait = (period = 600_000, signal = new AbortController().signal) => command.waitWhileBusy(period, signal);
    return { wait, seconds: () => time / 1000 };
  }

  test(verifies("C169", "goes on while it prints or works, until its end"), async () => {
    const looks = Array.from({ length: 90 }, (_, index) => ({ used: index * 2 }));
    const { wait, seconds } = createPlayed([...looks, { prints: "a" }, ...looks.slice(0, 20), { prints: "end" }]);
    expect([await wait(), seconds()]).toEqual([undefined, 112]);
  });

  test(verifies("C169", "ends if it does neither for 30 s, or when its time is over"), async () => {
    const silent = createPlayed([{ prints: "a" }, {}]);
    expect([await silent.wait(), silent.seconds()]).toEqual(["silent", 31]);
    const busy = createPlayed(Array.from({ length: 90 }, (_, index) => ({ used: index * 50 })));
    expect([await busy.wait(5000), busy.seconds()]).toEqual(["time", 5]);
    expect(await busy.wait(5000, AbortSignal.abort())).toBe(undefined);
  });

  test(verifies("C169", "ends if it waits for connections, but not if it does so for a moment"), async () => {
    const server = createPlayed([{ used: 1 }, { used: 90, listens: true }]);
    expect([await server.wait(), server.seconds()]).toEqual(["listens", 2]);
    const moment = createPlayed([{ listens: true }, { prints: "ok" }, { prints: "end" }]);
    expect(await moment.wait()).toBe(undefined);
  });
});

testDeep(
  verifies("R-24", "a call that ignores its abort does not hold the end of a run"),
  async () => {
    const stuck: CallableTool = {
      name: "stuck",
      description: "Never ends",
      access: "read",
      schema: {},
      prepare: () => ({ ok: true, run: () => new Promise(() => undefined) }),
    };
    const permissions = createPolicy({ force: true });
    const tools = createToolBox({ ...createContext(createFolder()), permissions, furtherTools: [stuck] });
    const options = { signal: AbortSignal.abort(), emitOutput: () => undefined };
    void tools.execute({ callId: "call_1", toolName: "stuck", arguments: {} }, options);
    await expect(tools.settle()).resolves.toBeUndefined();
  },
  20_000,
);
