import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { expect, onTestFinished, test } from "vitest";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { createTemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { ResponsePorts } from "../../src/assemble/prepare-response.ts";
import { createResponseProcesses } from "../../src/assemble/response-processes.ts";
import { respond } from "../../src/run/conversations/respond.ts";
import { call, createFakeModel, end, text } from "../run/fake-ports.ts";
import { runOrder } from "./run-order.ts";

/** A server with one workspace, whose model reads a file, then gives a task to a subagent that reads it, too. */
function createServed(silentMs?: number) {
  const authority = { NODE_EXTRA_CA_CERTS: "/dev/null", NODE_OPTIONS: "--require=/nowhere" };
  const preparer = createResponseProcesses({ PATH: process.env.PATH, ...authority }, silentMs);
  onTestFinished(() => preparer.close());
  const { root } = createTemporaryWorkspace();
  writeFileSync(join(root, "a.txt"), "one line\n");
  const read = (id: string) => [...call(id, "read_file", { target_file: "a.txt" }), end("tool_calls")];
  const task = [...call("c2", "run_agent", { kind: "search", task: "read" }), end("tool_calls")];
  const answers = [read("c1"), task, read("c3"), [text("Found."), end()], [text("Done."), end()]];
  let responses = 0;
  return {
    root,
    look: (place = root) => preparer.look(place),
    async prepare() {
      const controller = new AbortController();
      const { signal } = controller;
      const abort: ResponsePorts["abort"] = (reason) => controller.abort(reason);
      const model = createFakeModel(answers.map((turn) => [turn]));
      const request = { ...runOrder, hasAgents: true, workspace: root, responseId: `chat_${(responses += 1)}` };
      const store = createSqliteStore(":memory:");
      const prepared = await preparer.prepare(request, { store, model, now: Date.now, abort }, root, signal);
      return async (): Promise<readonly RunEvent[]> => {
        const events: RunEvent[] = [];
        for await (const group of respond(prepared.settings, prepared.ports, signal)) events.push(...group);
        await prepared.tools.settle();
        prepared.close?.();
        return events;
      };
    },
  };
}

/** The newest process that this one started. */
function findProcess(): number {
  return Number(execFileSync("pgrep", ["-n", "-P", String(process.pid), "-f", "response-process"]).toString());
}

test(verifies("R-81", "tools and subagents run in another process"), async () => {
  const run = await createServed().prepare();
  const events = await run();
  const results = events.flatMap((event) => (event.type === "tool_result" ? [event.output] : []));
  expect(results).toEqual(["one line\n", "Found."]);
  expect(events.filter(({ type }) => type === "agent_event").length).toBeGreaterThan(4);
  expect(events.at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
});

test.each([
  ["does not answer", "SIGSTOP", "did not answer for 4 s"],
  ["dies", "SIGKILL", "ended"],
] as const)(
  verifies("R-81", "a process that %s holds its own workspace alone, and the next response gets a new one"),
  async (_, signal, words) => {
    const lost = createServed(4000);
    const run = await lost.prepare();
    process.kill(findProcess(), signal);
    const looked = lost.look().catch((error: unknown) => error);
    const other = await createServed().prepare();
    expect((await other()).at(-1)).toMatchObject({ reason: "end_turn" });
    const problem = {
      code: "INTERRUPTED",
      message: expect.stringMatching(`^the .*${words}: look at its disk with ls`),
    };
    expect((await run()).at(-1)).toMatchObject({ type: "run_end", reason: "error", error: problem });
    expect(await looked).toMatchObject({ code: "INTERRUPTED" });
    const again = async (): Promise<RunEvent | undefined> => (await (await lost.prepare())()).at(-1);
    await expect.poll(again, { timeout: 20_000 }).toMatchObject({ reason: "end_turn" });
  },
);

test(verifies("R-81", "a disk that answers with an error is not silent, and certificates are known"), async () => {
  const { root, look } = createServed();
  symlinkSync("loop", join(root, "loop"));
  await look(join(root, "loop", "a.txt"));
  expect(readFileSync(`/proc/${findProcess()}/environ`, "utf8")).toContain("NODE_EXTRA_CA_CERTS=/dev/null");
});

test(verifies("R-81", "a server that was stopped for a while does not take its pause for the disk's"), async () => {
  const run = await createServed(4000).prepare();
  const child = findProcess();
  process.kill(child, "SIGSTOP");
  await new Promise((resolve) => {
    setTimeout(() => setImmediate(resolve), 2500);
  });
  spawn("sh", ["-c", `sleep 1; kill -CONT ${child}`]);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
  expect((await run()).at(-1)).toMatchObject({ type: "run_end", reason: "end_turn" });
});

test(verifies("R-81", "a process with little processor time is not taken for one with a dead disk"), async () => {
  const served = createServed(3000);
  await served.prepare();
  const child = findProcess();
  const slow = spawn("sh", ["-c", `while kill -CONT ${child}; do sleep 0.03; kill -STOP ${child}; sleep 0.9; done`]);
  onTestFinished(() => void slow.kill());
  const prepared = await Promise.all(Array.from({ length: 80 }, () => served.prepare()));
  expect(prepared).toHaveLength(80);
  slow.kill();
  process.kill(child, "SIGCONT");
});

test(verifies(["R-81", "S-256"], "the stack of a crash shows no key"), async () => {
  const module = join(import.meta.dirname, "../../src/assemble/response-process.ts");
  const secrets = [`sk-ant-api03-${"Ab1".repeat(31)}-AAAAAAAA`, "correct-horse-battery"];
  const child = fork(module, {
    env: { PATH: process.env.PATH, SHOP_TOKEN: secrets[1] },
    execArgv: ["--conditions=sheaf-source"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let shown = "";
  child.stderr!.setEncoding("utf8").on("data", (piece: string) => (shown += piece));
  child.once("message", () => child.send({ channel: 1, message: secrets.join(" ") }));
  expect(await once(child, "close")).toEqual([1, null]);
  expect(shown).toMatch(/^TypeError: .*sk-ant-…\[masked\] co…\[masked\]\n\s+at /);
  for (const secret of secrets) expect(shown).not.toContain(secret);
});
