import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compiledCode } from "../../../../../test/support/sheaf.ts";
import { testDeep } from "../../../../../test/support/describe-where.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { readProcess } from "@sheaf/sandbox/follow/processes";
import type { McpServers, McpServerSettings } from "../../../src/config/mcp-settings.ts";
import { createServerKeeper, type KeeperLimits, type ServerLease } from "../../../src/tools/mcp/server-keeper.ts";
import type { ToolContext, ToolOutcome } from "../../../src/tools/tool.ts";

const program = join(import.meta.dirname, "../../../../../test/support/counting-server.ts");
const counting: McpServerSettings = { command: process.execPath, args: [program], env: compiledCode };
const ports = { workspace: "/workspace", addedFolders: [], environment: {}, openFetch: async () => undefined };
const { signal } = new AbortController();

/** A keeper whose clock is turned by hand. */
function createKeeper(limits: KeeperLimits) {
  const timers: (() => void)[] = [];
  const keeper = createServerKeeper(limits, (_, run) => {
    timers.push(run);
    return () => void timers.splice(timers.indexOf(run), 1);
  });
  onTestFinished(() => keeper.close());
  const lease = (conversationId: string, servers: McpServers = { a: counting }): Promise<ServerLease> =>
    keeper.lease({ conversationId, servers }, ports, signal);
  return { keeper, lease, ring: () => timers.splice(0).forEach((run) => run()) };
}

/** The text of a call, or its failure. */
async function call(lease: ServerLease, name = "count"): Promise<string> {
  const { error, output } = await callTool(lease, name);
  return error?.message ?? output;
}

async function callTool({ tools }: ServerLease, name = "count"): Promise<ToolOutcome> {
  const tool = tools.find(({ mcp }) => mcp?.tool === name);
  const prepared = await tool?.prepare({ callId: "call_1", toolName: name, arguments: {} });
  if (!prepared?.ok) throw new Error("not prepared");
  return prepared.run({ signal } as ToolContext);
}

const readPid = (text: string): number => Number(/process (\d+)/.exec(text)?.[1]);

/** Calls once, and releases. */
async function use(lease: Promise<ServerLease>): Promise<{ pid: number; text: string }> {
  const held = await lease;
  const text = await call(held);
  await held.release();
  return { pid: readPid(text), text };
}

async function expectEnd(pid: number): Promise<void> {
  await expect.poll(() => readProcess(pid)?.isDead ?? true, { timeout: 10_000 }).toBe(true);
}

test(verifies("C51", "a conversation uses its servers again; each has its own"), async () => {
  const { lease } = createKeeper({ maxResting: 8 });
  const first = await use(lease("conv_1"));
  expect(first.text).toMatch(/call 1$/);
  expect(await use(lease("conv_1"))).toEqual({ pid: first.pid, text: `process ${first.pid}, call 2` });
  expect((await use(lease("conv_2"))).pid).not.toBe(first.pid);
});

test(verifies("C51", "what is not named any more ends; what is named otherwise starts again"), async () => {
  const { lease } = createKeeper({ maxResting: 8 });
  const both = await lease("conv_1", { a: counting, b: counting });
  const [a, b] = [readPid(await call(both)), readPid(await call({ ...both, tools: both.tools.slice(2) }))];
  await both.release();
  const changed = await use(lease("conv_1", { b: { ...counting, env: { ...compiledCode, X: "1" } } }));
  expect(changed.text).toMatch(/call 1$/);
  await expectEnd(a);
  await expectEnd(b);
  await (await lease("conv_1", {})).release();
  await expectEnd(changed.pid);
});

test(verifies("C51", "a server that ended between two responses is started again"), async () => {
  const { lease } = createKeeper({ maxResting: 8 });
  const { pid } = await use(lease("conv_1"));
  process.kill(pid, "SIGKILL");
  const again = await use(lease("conv_1"));
  expect(again.text).toMatch(/call 1$/);
  expect(again.pid).not.toBe(pid);
});

test(verifies("C51", "a call during which the server ends fails once; the next one starts it"), async () => {
  const { lease } = createKeeper({ maxResting: 8 });
  const held = await lease("conv_1");
  expect(await call(held, "end")).toMatch(/^a:end failed: .*closed/i);
  expect(await call(held)).toMatch(/call 1$/);
});

testDeep(verifies("C51", "a server that is silent when its tools are asked for is started again"), async () => {
  const { lease } = createKeeper({ maxResting: 8 });
  const servers = { a: { ...counting, startTimeoutSeconds: 5 } };
  const { pid } = await use(lease("conv_1", servers));
  process.kill(pid, "SIGSTOP");
  const held = await lease("conv_1", servers);
  expect(held.servers).toMatchObject([{ name: "a", status: "ready" }]);
  await expectEnd(pid);
});

test(verifies("C51", "as many conversations rest as may, and no longer than they may"), async () => {
  const { lease, ring } = createKeeper({ maxResting: 1, restMs: 1000 });
  const first = await use(lease("conv_1"));
  const held = await lease("conv_3");
  const second = await use(lease("conv_2"));
  await expectEnd(first.pid);
  ring();
  await expectEnd(second.pid);
  expect(await call(held)).toMatch(/call 1$/);
});

test(
  verifies("C51", "the end of a conversation or the keeper ends its servers, also while they are used"),
  async () => {
    const { keeper, lease } = createKeeper({ maxResting: 8 });
    const first = await lease("conv_1");
    const pids = [readPid(await call(first)), (await use(lease("conv_2"))).pid];
    await keeper.end("conv_1");
    await expectEnd(pids[0]!);
    expect(await call(first)).toMatch(/failed: it was ended/);
    await first.release();
    await keeper.close();
    await expectEnd(pids[1]!);
    expect((await lease("conv_1")).tools).toEqual([]);
  },
);

test(
  verifies(["C110", "C111"], "prompts and addresses are of running servers; nothing is started for them"),
  async () => {
    const { keeper, lease } = createKeeper({ maxResting: 8 });
    const changing = {
      ...counting,
      args: [join(import.meta.dirname, "../../../../../test/support/changing-server.ts")],
    };
    expect([await keeper.listPrompts("conv_1"), await keeper.listAddresses("conv_1", "b")]).toEqual([[], []]);
    await (await lease("conv_1", { a: counting, b: changing })).release();
    expect((await keeper.listPrompts("conv_1")).map(({ command }) => command)).toEqual([
      "mcp__b__plain",
      "mcp__b__review",
      "mcp__b__picture",
      "mcp__b__hostile",
    ]);
    expect(await keeper.listAddresses("conv_1", "b")).toEqual(["note:///a", "note:///image"]);
    expect(await keeper.listAddresses("conv_1", "a")).toEqual([]);
    await keeper.end("conv_1");
    expect(await keeper.listPrompts("conv_1")).toEqual([]);
  },
);

test(verifies(["C51", "C165"], "a server that ended and does not start again is a notice"), async () => {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const command = join(folder, "server");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${program}"\n`, { mode: 0o755 });
  const held = await createKeeper({ maxResting: 8 }).lease("conv_1", { a: { command, env: compiledCode } });
  const pid = readPid(await call(held));
  rmSync(folder, { recursive: true });
  process.kill(pid, "SIGKILL");
  await expectEnd(pid);
  await expect
    .poll(async () => (await callTool(held)).notice, { timeout: 10_000 })
    .toMatchObject({
      code: "SERVER_NOT_STARTED",
      message: expect.stringMatching(/^MCP server a ended, and did not start again: /),
    });
  await held.release();
});
