import { PassThrough } from "node:stream";
import type { ApprovalOption, ApprovalRequest, QuestionField } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createApprovalMenu } from "../../src/interactive/approval-menu.ts";
import { choose } from "../../src/interactive/choose.ts";

const labels = {
  allow_once: "Allow once",
  allow_always: "Allow exactly this in this conversation",
  reject_once: "Reject",
  reject_always: "Reject exactly this in this conversation",
} as const;
const options = Object.entries(labels).map(([id, label]): ApprovalOption => ({
  id,
  label,
  kind: id as ApprovalOption["kind"],
}));
const request: ApprovalRequest = {
  type: "approval_request",
  callId: "call_1",
  approvalId: "appr_1",
  title: "Run this command?",
  description: "It is not in the sandbox.",
  subject: { type: "command", command: "touch made", workingDirectory: "." },
  options,
  rules: [],
  argumentsHash: "",
  expiresAt: "2027-01-01T00:00:00Z",
};

/** A screen whose pause ends when the test says so. */
function createScreen() {
  const input = new PassThrough();
  const output = new PassThrough();
  const { promise, resolve } = Promise.withResolvers<void>();
  let shown = "";
  output.on("data", (bytes: Buffer) => (shown += bytes.toString()));
  return {
    screen: { input, output, pause: () => promise },
    /** Waits until they are read. */
    type: async (...keys: readonly string[]) => {
      for (const key of keys) {
        input.write(key);
        await settle();
      }
    },
    endPause: async () => {
      resolve();
      await settle();
    },
    read: () => shown,
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const enter = "\r";
const [up, down] = ["\u001B[A", "\u001B[B"];

function askMenu() {
  const place = createScreen();
  const { screen } = place;
  const approver = createApprovalMenu({
    hasColors: false,
    console: { yield: (ask) => ask() },
    screen,
    onCancel: () => undefined,
  });
  const answer = approver.ask(request, new AbortController().signal, async () => undefined);
  return { ...place, answer };
}

test.each<[string, readonly string[], keyof typeof labels]>([
  ["Enter", [enter], "reject_once"],
  ["n", ["n", enter], "reject_once"],
  ["y", ["y", enter], "allow_once"],
  ["yes", ["yes", enter], "allow_once"],
  ["Y", ["Y", enter], "allow_once"],
  ["y, then n", ["y", "n", enter], "reject_once"],
  ["y taken back", ["y", "\u007F", enter], "reject_once"],
  ["a sentence with y", ["try it, ok", enter], "reject_once"],
  ["letters that move in other menus", ["kkhj", enter], "reject_once"],
  ["arrows", [up, up, enter], "allow_once"],
  ["an arrow and a letter", [up, "x", enter], "reject_once"],
  ["an arrow down", [down, enter], "reject_always"],
])(verifies(["C63", "S-16"], "%s answers a question for permission as it reads"), async (_, keys, expected) => {
  const { answer, type, endPause } = askMenu();
  await settle();
  await endPause();
  await type(...keys);
  // The question for a reason.
  if (expected === "reject_once") await type(enter);
  expect(await answer).toEqual({ optionId: expected, by: "user" });
});

test.each([[[enter]], [["y", enter]], [[up, up, enter, enter]]])(
  verifies(["C63", "S-16"], "the keys %j answer nothing during the pause"),
  async (keys) => {
    const { answer, type, endPause, read } = askMenu();
    await settle();
    expect(read()).not.toContain("y or n");
    await type(...keys);
    await endPause();
    expect(read()).toContain("y or n, then Enter");
    await type(enter, enter);
    expect(await answer).toEqual({ optionId: "reject_once", by: "user" });
  },
);

const ask = (field: Partial<QuestionField>, value: unknown): ApprovalRequest => ({
  ...request,
  subject: {
    type: "server_question",
    server: "hotel",
    fields: [{ name: "a", title: "A", type: "string", required: true, ...field }],
    arguments: { a: value },
  },
});
const rooms = { options: ["s", "l"].map((value) => ({ value, label: value })) };

test.each<[string, ApprovalRequest, readonly string[], unknown]>([
  ["a yes or no", ask({ type: "boolean" }, true), [enter], false],
  ["a yes or no that may be left out", ask({ type: "boolean", required: false }, true), [enter], false],
  ["a yes or no", ask({ type: "boolean" }, true), ["y", enter], true],
  ["a choice", ask({ type: "choice", ...rooms }, "l"), [enter], "l"],
  ["a list", ask({ type: "choices", ...rooms }, ["l"]), [enter], ["l"]],
  ["a text", ask({}, "Ada"), [enter], "Ada"],
])(
  verifies(["C63", "C101"], "%s of a form ignores Enter at first, and starts on no"),
  async (_, form, keys, expected) => {
    const { screen, type } = createScreen();
    const pauses: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
    const endPause = async () => {
      for (const end of pauses) end();
      await settle();
    };
    const place = { console: { yield: <T>(run: () => T) => run() }, screen: { ...screen, pause } };
    const approver = createApprovalMenu({ hasColors: false, ...place, onCancel: () => undefined });
    const answer = approver.ask(form, new AbortController().signal, async () => undefined);
    await settle();
    await endPause();
    await type("y", enter);
    await type(enter, enter);
    await endPause();
    await type(...keys);
    expect(await answer).toEqual({ optionId: "allow_once", by: "user", editedArguments: { a: expected } });
  },
);

test("Ctrl-C and Esc are heard during the pause, and the pause ends with the menu", async () => {
  for (const key of ["\u0003", "\u001B"]) {
    const { screen, type } = createScreen();
    let isPaused = true;
    const pause = (signal: AbortSignal) => {
      signal.addEventListener("abort", () => (isPaused = false));
      return new Promise<void>(() => undefined);
    };
    const answer = choose(
      { message: "Go?", options: [{ value: "no", label: "No" }], initialValue: "no" },
      { ...screen, pause },
    );
    await settle();
    await type(key);
    expect(await answer).toBeUndefined();
    expect(isPaused).toBe(false);
  }
});
