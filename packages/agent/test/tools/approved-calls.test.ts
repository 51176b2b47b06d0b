/** The tool box and a person's approvals: what runs with one, what never does, and what is kept (X8, S-11 to S-16). */
import type { ApprovalOption, RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import type { PermissionOptions } from "@sheaf/permissions/permissions";
import type { Approval, ApprovalQuestion } from "../../src/tools/approval.ts";
import { applyToState, createToolState, type ToolState } from "../../src/tools/tool-state.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import type { ToolBox, ToolInvocation, ToolOutcome } from "../../src/tools/tool.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { playCommands } from "./ended-command.ts";
import { createFileToolContext } from "./file-tool-context.ts";

interface Box {
  readonly tools: ToolBox;
  /** Commands that were started. */
  readonly started: string[];
}

function createBox(options: Partial<PermissionOptions> = {}, state = createToolState()): Box {
  const { context } = createFileToolContext();
  const started: string[] = [];
  const commands = playCommands(({ command }) => void started.push(command));
  const permissions = createPolicy(options);
  return { tools: createToolBox({ ...context, state, commands, permissions }), started };
}

const run = (command: string, callId = "call_1"): ToolInvocation => ({
  callId,
  toolName: "run_terminal_cmd",
  arguments: { command },
});

let approvals = 0;
const answer = (
  { callId }: ToolInvocation,
  { argumentsHash, rules }: ApprovalQuestion,
  kind: ApprovalOption["kind"],
  message?: string,
): Approval => ({
  approvalId: `appr_${(approvals += 1)}`,
  callId,
  argumentsHash,
  rules,
  kind,
  by: "ann",
  ...(message !== undefined && { message }),
});

const execute = ({ tools }: Box, call: ToolInvocation, approval?: Approval): Promise<ToolOutcome> =>
  tools.execute(call, {
    signal: new AbortController().signal,
    emitOutput: () => undefined,
    ...(approval && { approval }),
  });

async function ask(box: Box, call: ToolInvocation): Promise<ApprovalQuestion> {
  const question = await box.tools.review(call);
  if (!question) throw new Error("nothing is asked");
  return question;
}

describe("a call that needs an approval", () => {
  test(verifies("S-11", "is rejected where nobody is asked, and the model learns what helps"), async () => {
    const box = createBox();
    expect(await execute(box, run("npm test"))).toMatchObject({
      status: "rejected",
      error: { code: "PERMISSION_DENIED", message: expect.stringContaining('--allow "Shell(npm test)"') },
    });
    expect(box.started).toEqual([]);
  });

  test(verifies("X8", "runs with it, and a person's words go to the model"), async () => {
    const box = createBox();
    const call = run("npm test");
    const question = await ask(box, call);
    expect(await execute(box, call, answer(call, question, "allow_once"))).toMatchObject({ status: "success" });
    const refused = await execute(box, call, answer(call, question, "reject_once", " use pnpm "));
    expect(refused).toMatchObject({ status: "rejected", error: { message: "the user refused this call: use pnpm" } });
    expect(refused).not.toHaveProperty("lacks");
    expect(box.started).toEqual(["npm test"]);
  });

  test(verifies("C180", "lacks a permission if no person answered"), async () => {
    const box = createBox();
    const call = run("npm test");
    for (const by of ["timeout", "error"]) {
      const approval = { ...answer(call, await ask(box, call), "reject_once"), by };
      expect(await execute(box, call, approval)).toMatchObject({ status: "rejected", lacks: "permission" });
    }
  });

  test(verifies("S-16", "runs once with one approval, never with another call's or other arguments"), async () => {
    const box = createBox();
    const call = run("npm test");
    const approval = answer(call, await ask(box, call), "allow_once");
    for (const other of [run("npm test", "call_2"), run("npm test "), run("npm publish")]) {
      expect(await execute(box, other, approval)).toMatchObject({ status: "rejected" });
    }
    expect(await execute(box, call, approval)).toMatchObject({ status: "success" });
    expect(await execute(box, call, approval)).toMatchObject({ status: "rejected" });
    expect(box.started).toEqual(["npm test"]);
  });

  test(verifies("S-06", "is refused by a deny rule, whatever a person says"), async () => {
    const box = createBox({ deny: ["Shell(npm publish)"] });
    const call = run("npm publish");
    expect(await box.tools.review(call)).toBeUndefined();
    const question = await ask(createBox(), call);
    expect(await execute(box, call, answer(call, question, "allow_always"))).toMatchObject({ status: "rejected" });
    expect(box.started).toEqual([]);
  });

  test(verifies("S-15", "is refused in plan and ask mode, whatever a person says"), async () => {
    for (const mode of ["plan", "ask"] as const) {
      const box = createBox({ mode, force: true });
      const call = run("npm test");
      const approval = answer(call, await ask(createBox(), call), "allow_always");
      expect(await execute(box, call, approval)).toMatchObject({ status: "rejected" });
      expect(box.started).toEqual([]);
    }
  });
});

test(verifies("S-16", '"always" ends when a server changes the description of its tool'), async () => {
  const state = createToolState();
  const { context } = createFileToolContext();
  const box = (description: string): Box => {
    const prepare = () => ({ ok: true as const, run: async () => ({ status: "success" as const, output: "" }) });
    const mcp = { server: "s", tool: "t" };
    const tool = { name: "mcp__s__t", description, access: "mcp" as const, schema: { type: "object" }, mcp, prepare };
    return {
      tools: createToolBox({ ...context, state, permissions: createPolicy({}), furtherTools: [tool] }),
      started: [],
    };
  };
  const call: ToolInvocation = { callId: "call_1", toolName: "mcp__s__t", arguments: {} };
  const question = await ask(box("Reads"), call);
  expect(question.rules).toEqual(["Mcp(s:t)"]);
  await execute(box("Reads"), call, { ...answer(call, question, "allow_always"), toolHash: question.toolHash! });
  expect(await box("Reads").tools.review(call)).toBeUndefined();
  expect(await execute(box("Reads"), call)).toMatchObject({ status: "success" });
  expect((await ask(box("Sends all files"), call)).description).toContain("the server changed its tool");
  expect(await execute(box("Sends all files"), call)).toMatchObject({ status: "rejected" });
});

describe("arguments that the person edited", () => {
  const editTo = async (box: Box, command: unknown, kind: ApprovalOption["kind"] = "allow_once") => {
    const call = run("npm test");
    const approval = answer(call, await ask(box, call), kind);
    return execute(box, call, { ...approval, editedArguments: { command } });
  };

  test(verifies("X8", "are what runs, and the model sees them"), async () => {
    const box = createBox();
    expect(await editTo(box, "npm test -- --run a")).toMatchObject({
      status: "success",
      note: expect.stringContaining('it ran with {"command":"npm test -- --run a"}'),
    });
    expect(box.started).toEqual(["npm test -- --run a"]);
  });

  test(verifies(["X8", "S-06"], "pass no deny rule, and add no rule for later"), async () => {
    const box = createBox({ deny: ["Shell(rm)"] });
    expect(await editTo(box, "rm -rf x")).toMatchObject({ status: "rejected" });
    expect(await editTo(box, "npm run build", "allow_always")).toMatchObject({ status: "success" });
    expect(await box.tools.review(run("npm test", "call_2"))).toBeDefined();
    expect(await box.tools.review(run("npm run build", "call_3"))).toBeDefined();
    expect(box.started).toEqual(["npm run build"]);
  });

  test(verifies("X8", "must fit the tool"), async () => {
    const box = createBox();
    expect(await editTo(box, 7)).toMatchObject({ status: "error", error: { code: "INVALID_ARGUMENTS" } });
    expect(box.started).toEqual([]);
  });
});

describe("what asks", () => {
  test("commands, unless the sandbox, a rule or --force lets them run", async () => {
    const asks = async (options: Partial<PermissionOptions>): Promise<boolean> =>
      (await createBox(options).tools.review(run("npm test"))) !== undefined;
    expect(await asks({})).toBe(true);
    expect(await asks({ sandbox: "enabled" })).toBe(false);
    expect(await asks({ force: true })).toBe(false);
    expect(await asks({ allow: ["Shell(npm)"] })).toBe(false);
    expect(await execute(createBox({ sandbox: "enabled" }), run("npm test"))).toMatchObject({ status: "success" });
  });

  test(verifies("S-31", "nothing runs where the sandbox should be and cannot start"), async () => {
    const box = createBox({ sandbox: "unavailable", allow: ["Shell(*)"], force: true });
    expect(await box.tools.review(run("ls"))).toBeUndefined();
    for (const command of ["ls", "cat a.txt | head -3"]) {
      const outcome = await execute(box, run(command));
      expect(outcome).toMatchObject({ status: "rejected" });
      expect(outcome).not.toHaveProperty("lacks");
    }
    for (const command of ["touch a", "ls > a", "npm test", "ls; rm a", "$(x)"]) {
      expect(await execute(box, run(command))).toMatchObject({ status: "rejected", lacks: "sandbox" });
    }
    expect(box.started).toEqual([]);
  });

  test("not a call that is none: unknown tools, wrong arguments", async () => {
    const box = createBox();
    expect(await box.tools.review({ callId: "c", toolName: "none", arguments: {} })).toBeUndefined();
    expect(
      await box.tools.review({ callId: "c", toolName: "run_terminal_cmd", arguments: { command: 1 } }),
    ).toBeUndefined();
    expect(
      await box.tools.review({ callId: "c", toolName: "write_file", arguments: { target_file: "a", content: "" } }),
    ).toBeUndefined();
  });
});

describe("a standing answer", () => {
  /** The state that a log of such an answer leaves behind. */
  const resume = (question: ApprovalQuestion, optionId: string): ToolState => {
    const state = createToolState();
    const at = { seq: 1, time: 1 };
    const request = {
      type: "approval_request",
      callId: "call_1",
      approvalId: "appr_x",
      ...question,
      expiresAt: "",
      ...at,
    } as const;
    const log: RunEvent[] = [request, { type: "approval_resolved", approvalId: "appr_x", optionId, by: "ann", ...at }];
    for (const event of log) applyToState(state, event);
    return state;
  };

  test(verifies("X8", "holds for the conversation, also if it is resumed from its log, and no other"), async () => {
    const call = run("npm test");
    const question = await ask(createBox(), call);
    expect(question.rules).toEqual(["Shell(npm test)"]);
    const box = createBox();
    await execute(box, call, answer(call, question, "allow_always"));
    expect(await box.tools.review(run("npm test", "call_9"))).toBeUndefined();
    expect(await execute(box, run("npm test -- a", "call_10"))).toMatchObject({ status: "success" });
    expect(await box.tools.review(run("npm publish"))).toBeDefined();
    const resumed = createBox({}, resume(question, "allow_always"));
    expect(await execute(resumed, run("npm test", "call_11"))).toMatchObject({ status: "success" });
    for (const optionId of ["allow_once", "reject_once", "", "other"]) {
      expect(await createBox({}, resume(question, optionId)).tools.review(call)).toBeDefined();
    }
    expect(await createBox().tools.review(call)).toBeDefined();
  });

  test(verifies("X8", "that rejects is not asked again"), async () => {
    const call = run("npm test");
    const question = await ask(createBox(), call);
    for (const options of [{}, { allow: ["Shell(npm)"] }, { force: true }]) {
      const box = createBox(options, resume(question, "reject_always"));
      expect(await box.tools.review(call)).toBeUndefined();
      expect(await execute(box, run("npm test", "call_9"))).toMatchObject({ status: "rejected" });
    }
  });

  test(verifies("X8", "about a call that no rule describes holds for exactly that call"), async () => {
    const call = run("npm test | tee $LOG");
    const question = await ask(createBox(), call);
    expect(question.rules).toEqual([]);
    const allowing = createBox({}, resume(question, "allow_always"));
    expect(await allowing.tools.review(run("npm test | tee $LOG", "call_2"))).toBeUndefined();
    expect(await allowing.tools.review(run("npm test | tee $LOG ", "call_2"))).toBeDefined();
    const rejecting = createBox({}, resume(question, "reject_always"));
    expect(await execute(rejecting, call)).toMatchObject({ status: "rejected" });
    expect(await rejecting.tools.review(run("npm test | tee x"))).toBeDefined();
  });
});

describe("what the person sees", () => {
  test(verifies("S-16", "is the whole command, with nothing hidden in it"), async () => {
    const command = `ls \u202E\u200B\u0007\r\u00A0\u{E0041}\u2028x${" ".repeat(200)}; rm -rf y${"\n".repeat(50)}z ${"a".repeat(10_000)}`;
    const { subject, options, argumentsHash, description } = await ask(createBox(), run(command));
    expect(subject).toEqual({
      type: "command",
      command: `ls <U+202E><U+200B><U+0007><U+000D><U+00A0><U+E0041><U+2028>x<U+0020 ×200>; rm -rf y<U+000A ×50>z ${"a".repeat(10_000)}`,
      workingDirectory: ".",
    });
    expect(options.map(({ kind }) => kind)).toEqual(["allow_once", "allow_always", "reject_once", "reject_always"]);
    expect(argumentsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(description).not.toBe("");
  });

  test(verifies("S-16", "is ordinary text as it is, in every language"), async () => {
    const command = "npm run '%s\\n' größe 文書 🙂\n\tls";
    expect((await ask(createBox(), run(command))).subject).toMatchObject({ command });
  });
});
