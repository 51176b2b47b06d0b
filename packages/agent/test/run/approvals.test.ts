/** Questions to a person within a run: what the log holds, when it is asked, and what then happens (X8, S-16). */
import { setTimeout as wait } from "node:timers/promises";
import type { ApprovalRequest, RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import { createSqliteStore } from "@sheaf/store/sqlite";
import {
  type Approval,
  type ApprovalDecision,
  type Approver,
  createExpiringApprover,
} from "../../src/tools/approval.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { call, createFakeModel, createFakeTools, end, ok, runModel, text } from "./fake-ports.ts";

const twoTurns = (...names: readonly string[]) =>
  createFakeModel([
    [[...names.flatMap((name, index) => call(`call_${index + 1}`, name)), end("tool_calls")]],
    [[text("Done.")], [end()]],
  ]);

/** Answers by a function; notes what it was asked. */
function createApprover(
  answer: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>,
): Approver & { readonly asked: ApprovalRequest[] } {
  const asked: ApprovalRequest[] = [];
  return {
    expiresAfterMs: 60_000,
    asked,
    ask(request, signal) {
      asked.push(request);
      return answer(request, signal);
    },
  };
}

/** A tool that needs an approval; notes with which one it ran. */
function createAskingTool() {
  const seen: (Approval | undefined)[] = [];
  const run = async (_signal: AbortSignal, _emit: unknown, approval?: Approval) => {
    seen.push(approval);
    return ok();
  };
  return { seen, tools: createFakeTools({ run_ask: run, write_ask: run }) };
}

const never = createApprover(() => new Promise(() => undefined));

const approvalTypes = new Set<RunEvent["type"]>(["approval_request", "approval_resolved", "tool_result"]);
const told = (events: readonly RunEvent[]) => events.filter(({ type }) => approvalTypes.has(type));

describe("an approval", () => {
  test(verifies("X8", "is in the log before the person is asked, and the answer before the call runs"), async () => {
    const store = createSqliteStore(":memory:");
    const stored: string[][] = [];
    const note = async (): Promise<void> => {
      stored.push((await store.readEvents("chat_1")).map(({ type }) => type));
    };
    const approver = createApprover(async () => {
      await note();
      return { optionId: "allow_once", by: "ann" };
    });
    const seen: (Approval | undefined)[] = [];
    const tools = createFakeTools({
      run_ask: async (_signal, _emit, approval) => {
        await note();
        seen.push(approval);
        return ok();
      },
    });
    const groups = await runModel(twoTurns("run_ask"), { store, tools, approver });
    expect(stored[0]!.at(-1)).toBe("approval_request");
    expect(stored[1]!.at(-1)).toBe("approval_resolved");
    const [request, resolved, result] = told(groups.flat());
    expect(request).toMatchObject({
      callId: "call_1",
      approvalId: "appr_1",
      argumentsHash: "hash of call_1",
      expiresAt: expect.stringMatching(/^1970-01-01T00:01:00\.\d{3}Z$/),
    });
    expect(resolved).toMatchObject({ approvalId: "appr_1", optionId: "allow_once", by: "ann" });
    expect(result).toMatchObject({ callId: "call_1", status: "success" });
    expect(approver.asked).toHaveLength(1);
    expect(seen).toEqual([
      {
        approvalId: "appr_1",
        callId: "call_1",
        argumentsHash: "hash of call_1",
        rules: ["Shell(call_1)"],
        kind: "allow_once",
        by: "ann",
      },
    ]);
  });

  test(verifies("X8", "of several calls is asked at once; each call waits for its own"), async () => {
    const answers = new Map<string, (answer: ApprovalDecision) => void>();
    const approver = createApprover(({ callId }) => {
      const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
      answers.set(callId, resolve);
      // The last one is answered first.
      if (answers.size === 3)
        for (const id of ["call_3", "call_1", "call_2"]) answers.get(id)!({ optionId: "allow_once", by: id });
      return promise;
    });
    const { seen, tools } = createAskingTool();
    const groups = await runModel(twoTurns("run_ask", "write_ask", "run_ask"), { tools, approver });
    expect(seen.map((approval) => approval?.by)).toEqual(["call_1", "call_2", "call_3"]);
    const events = told(groups.flat());
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual(Array.from({ length: 3 }, () => "approval_request"));
    expect(events.filter(({ type }) => type === "approval_resolved")).toHaveLength(3);
    for (const callId of ["call_1", "call_2", "call_3"]) {
      const resolved = events.findIndex((event) => event.type === "approval_resolved" && event.by === callId);
      const result = events.findIndex((event) => event.type === "tool_result" && event.callId === callId);
      expect(resolved).toBeLessThan(result);
    }
  });

  test(verifies("X8", "may come with edited arguments, which are in the log; a rejection takes none"), async () => {
    for (const [optionId, editedArguments] of [
      ["allow_once", { a: 2 }],
      ["reject_once", undefined],
    ] as const) {
      const { seen, tools } = createAskingTool();
      const approver = createApprover(async () => ({ optionId, by: "x", editedArguments: { a: 2 } }));
      const events = (await runModel(twoTurns("run_ask"), { tools, approver })).flat();
      expect(seen[0]?.editedArguments).toEqual(editedArguments);
      const resolved = events.find(({ type }) => type === "approval_resolved")!;
      expect("editedArguments" in resolved ? resolved.editedArguments : undefined).toEqual(editedArguments);
    }
  });

  test(verifies("S-16", "that names no option of the question rejects"), async () => {
    for (const optionId of ["", "allow", "ALLOW_ONCE", "constructor"]) {
      const { seen, tools } = createAskingTool();
      const approver = createApprover(async () => ({ optionId, by: "x" }));
      const groups = await runModel(twoTurns("run_ask"), { tools, approver });
      expect(seen).toMatchObject([{ kind: "reject_once" }]);
      expect(told(groups.flat())[1]).toMatchObject({ optionId: "reject_once" });
    }
  });

  test(verifies("S-16", "expires: then it is rejected, and the person's client is told"), async () => {
    const aborted: boolean[] = [];
    const inner = createApprover(async (_request, signal) => {
      await wait(60_000, undefined, { signal }).catch(() => aborted.push(signal.aborted));
      return { optionId: "allow_once", by: "too late" };
    });
    const { seen, tools } = createAskingTool();
    const approver = createExpiringApprover({ ...inner, expiresAfterMs: 20 });
    const groups = await runModel(twoTurns("run_ask"), { tools, approver });
    expect(seen).toMatchObject([{ kind: "reject_once", by: "timeout" }]);
    expect(told(groups.flat())[1]).toMatchObject({ optionId: "reject_once", by: "timeout" });
    expect(aborted).toEqual([true]);
  });

  test("that cannot be asked rejects", async () => {
    const approver = createExpiringApprover(createApprover(() => Promise.reject(new Error("no line"))));
    const groups = await runModel(twoTurns("run_ask"), { tools: createAskingTool().tools, approver });
    expect(told(groups.flat())[1]).toMatchObject({ optionId: "reject_once", by: "error" });
  });

  test(verifies("X8", "is resolved when the run is cancelled while it waits; nothing runs"), async () => {
    const { seen, tools } = createAskingTool();
    const groups = await runModel(twoTurns("run_ask", "run_ask"), {
      tools,
      approver: never,
      onEvent(event, abort) {
        if (event.type === "approval_request" && event.callId === "call_2")
          setTimeout(abort, 1, new SheafError("CANCELLED", "x"));
      },
    });
    expect(seen).toEqual([]);
    const events = groups.flat();
    for (const [type, fields] of [
      ["approval_resolved", { by: "cancelled" }],
      ["tool_result", { status: "cancelled" }],
    ] as const)
      expect(events.filter((event) => event.type === type)).toMatchObject([fields, fields]);
    expect(events.at(-1)).toMatchObject({ type: "run_end", error: { code: "CANCELLED" } });
  });

  test("is not asked where nobody can be", async () => {
    const tools = createFakeTools({ run_ask: async (_signal, _emit, approval) => ok(approval?.by ?? "nobody") });
    const events = (await runModel(twoTurns("run_ask"), { tools })).flat();
    expect(told(events)).toMatchObject([{ type: "tool_result", output: "nobody" }]);
  });
});
