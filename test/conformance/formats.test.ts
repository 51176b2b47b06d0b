/** Every format of one run, printed by the built program, and again from the store. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import { explainInvalid, parseValidLines } from "../support/schema-check.ts";
import { createTestFolder, parseStream, runSheaf, toLines, toTexts } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Uses every tool once, with text and code around. */
const everyTool = {
  turns: [
    {
      events: [
        { reasoning: "I think." },
        { text: ["I look ", "around.\n\n"] },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "src/main.py" } },
            { tool: "list_dir", arguments: { target_directory: "." } },
            { tool: "glob_search", arguments: { pattern: "**/*.py" } },
            { tool: "grep_search", arguments: { pattern: "def " } },
          ],
        },
      ],
    },
    {
      events: [
        {
          call: {
            tool: "create_plan",
            arguments: { title: "Plan", overview: "o", plan: "# Plan", todos: [{ id: "a", content: "A" }] },
          },
        },
        { call: { tool: "todo_write", arguments: { todos: [{ id: "a", status: "in_progress" }], merge: true } } },
        { call: { tool: "write_file", arguments: { target_file: "new.md", content: "# New\n" }, chunk: 5 } },
        {
          call: {
            tool: "edit_file",
            arguments: { target_file: "src/main.py", edits: [{ old_string: "pass", new_string: "return 1" }] },
          },
        },
        { call: { tool: "run_terminal_cmd", arguments: { command: "echo out; echo err >&2; exit 3" } } },
        { call: { tool: "rename_file", arguments: { source_file: "new.md", destination_file: "old.md" } } },
        { call: { tool: "delete_file", arguments: { target_file: "old.md" } } },
        { call: { tool: "read_file", arguments: { target_file: "missing.txt" } } },
        { call: { tool: "no_such_tool", arguments: { x: 1 } } },
        { call: { tool: "read_file", arguments: "{ not json" } },
      ],
    },
    {
      events: [
        {
          text: "See\n\n```1:2:src/main.py\ndef main():\n    return 1\n```\n\nand\n\n```js\nlet x = 1;\n```\n",
          chunk: 7,
        },
        { text: "Done." },
      ],
    },
  ],
};

async function runEveryTool(format: string, ...args: readonly string[]) {
  skipIfMissing(missingBubblewrap);
  const cwd = folders.newFolder({ "src/main.py": "def main():\n    pass\n", "README.md": "# R\n" });
  const script = join(folders.path, "every-tool.json");
  writeFileSync(script, JSON.stringify(everyTool));
  const run = ["-p", "--force", "--model", `scripted:${script}`, "--output-format", format, ...args, "use every tool"];
  const result = await runSheaf(run, { cwd });
  expect([result.code, result.stderr]).toEqual([0, ""]);
  return { ...result, cwd };
}

describe("a run with every tool", () => {
  test(
    verifies(
      ["C4", "C7", "C8", "C9", "C12", "C13"],
      "as stream-json: valid lines, each call once begun and once completed",
    ),
    async () => {
      const { stdout } = await runEveryTool("stream-json");
      const lines = parseStream(stdout);
      const calls = lines.filter(({ type }) => type === "tool_call");
      const ids = (subtype: string) => calls.filter((line) => line.subtype === subtype).map((line) => line.call_id);
      expect(ids("started")).toHaveLength(14);
      expect(new Set(ids("completed"))).toEqual(new Set(ids("started")));
      expect(new Set(ids("started")).size).toBe(14);
      for (const call of calls) expect(Object.keys(call.tool_call as object)).toHaveLength(1);
      expect(toTexts(lines).join("")).toBe(lines.at(-1)!.result);
      expect(lines.some(({ type }) => type === "thinking")).toBe(false);
      const outcomes = calls
        .filter(({ subtype }) => subtype === "completed")
        .flatMap(({ tool_call }) => Object.values(tool_call as Record<string, { result: object }>))
        .map(({ result }) => Object.keys(result)[0]);
      expect(outcomes.filter((outcome) => outcome === "error")).toHaveLength(3);
      expect(outcomes.filter((outcome) => outcome === "failure")).toHaveLength(1);
    },
  );

  test(verifies(["C3"], "as json: one object, the same answer"), async () => {
    const { stdout } = await runEveryTool("json");
    const [object, ...rest] = parseStream(stdout);
    expect(rest).toEqual([]);
    expect(object).toMatchObject({ type: "result", subtype: "success", is_error: false });
    expect(String(object!.result)).toMatch(/^I look around\.[^]*Done\.$/);
  });

  test(
    verifies(
      ["C2", "R1", "R2", "R3", "N4", "N5", "N28", "N39"],
      "as documents: one response, every document type valid",
    ),
    async () => {
      const { stdout } = await runEveryTool("documents");
      expect(toLines(stdout)).toHaveLength(1);
      const response = JSON.parse(stdout) as ChatResponse;
      expect(explainInvalid("documents", response)).toBeUndefined();
      expect(response).toMatchObject({
        status: "completed",
        mode: "agent",
        metadata: { turnCount: 3, actionCount: 14 },
      });
      const types = response.documents.map(({ type }) => type);
      expect(new Set(types)).toEqual(
        new Set([
          "text",
          "tool_call",
          "plan",
          "todo_update",
          "file_edit",
          "terminal_command",
          "error",
          "code_reference",
          "code_block",
        ]),
      );
      const toolCalls = types.filter((type) => type === "tool_call").length;
      expect(response.metadata.toolCallCount).toBe(toolCalls);
      expect(response.documents.map(({ sequence }) => sequence)).toEqual(
        response.documents.map((_, index) => index + 1),
      );
      expect(types.filter((type) => type === "error")).toHaveLength(3);
    },
  );

  test(
    verifies(["C2", "X15", "N44", "N53"], "as documents-stream: a valid stream that reduces to the response"),
    async () => {
      const { stdout } = await runEveryTool("documents-stream");
      const events = parseValidLines("events", toLines(stdout)) as unknown as StreamEvent[];
      expect(verify(events)).toBeUndefined();
      // Ids grow strictly; that of an event which is left out (thinking) is not given to another.
      expect(events.every(({ id }, index) => index === 0 || id > events[index - 1]!.id)).toBe(true);
      expect(explainInvalid("documents", reduce(events))).toBeUndefined();
    },
  );

  test(verifies("C12", "with --include-thinking the thinking comes, and the answer is the same"), async () => {
    const { stdout } = await runEveryTool("stream-json", "--include-thinking");
    const lines = parseStream(stdout);
    expect(lines.filter(({ type }) => type === "thinking").map(({ subtype }) => subtype)).toEqual([
      "delta",
      "completed",
    ]);
    expect(String(lines.at(-1)!.result)).not.toContain("I think.");
  });
});

describe("the stored run", () => {
  test(verifies("C31", "is printed again, byte for byte, in the format of the run and in every other"), async () => {
    const { stdout, cwd } = await runEveryTool("stream-json");
    const session = String(parseStream(stdout)[0]!.session_id);
    const show = async (format: string) => runSheaf(["show", session, "--output-format", format], { cwd });
    const again = await show("stream-json");
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(again.stdout).toBe(stdout);
    expect((await show("text")).stdout).toMatch(/^(Read file|Listed|Searched)[^]*\n\nSee\n[^]*Done\.\n$/);
    expect(parseStream((await show("json")).stdout)).toHaveLength(1);
    const response = JSON.parse((await show("documents")).stdout) as ChatResponse;
    const events = toLines((await show("documents-stream")).stdout).map((line) => JSON.parse(line) as StreamEvent);
    expect(reduce(events)).toEqual(response);
  });

  test(verifies("C14", "goes on with --resume and --continue under its id; --no-save keeps nothing"), async () => {
    const cwd = folders.newFolder();
    const home = join(folders.newFolder(), "home");
    const script = join(cwd, "script.json");
    const turns = [1, 2, 3].map((turn) => ({ events: [{ text: `Answer ${turn}.` }] }));
    writeFileSync(script, JSON.stringify({ turns }));
    const run = async (...args: readonly string[]) => {
      const { stdout, code, stderr } = await runSheaf(["-p", "--model", `scripted:${script}`, ...args], { cwd, home });
      expect([code, stderr]).toEqual([0, ""]);
      const lines = parseStream(stdout);
      return { session: String(lines[0]!.session_id), answer: lines.at(-1)!.result };
    };
    const first = await run("one");
    expect(first.answer).toBe("Answer 1.");
    // The script's turn is chosen by the history: a second answer proves that the first is remembered.
    expect(await run("--resume", first.session, "two")).toEqual({ session: first.session, answer: "Answer 2." });
    expect(await run("--continue", "three")).toEqual({ session: first.session, answer: "Answer 3." });
    const own = "0d6f4b52-5c0e-4bb4-9f3c-1d2a3b4c5d6e";
    expect(await run("--session-id", own, "new")).toEqual({ session: own, answer: "Answer 1." });
    // A run that cannot begin has the id that was named, too.
    const failed = await runSheaf(["-p", "--model", "nope/x", "--resume", first.session, "four"], { cwd, home });
    expect(parseStream(failed.stdout).map(({ session_id: id }) => id)).toEqual(Array(3).fill(first.session));
    expect((await runSheaf(["ls", "--all"], { cwd, home })).stdout).toContain(first.session);
    const unsaved = await run("--no-save", "gone");
    const shown = await runSheaf(["show", unsaved.session], { cwd, home });
    expect([shown.code, shown.stdout]).toEqual([2, ""]);
    expect(shown.stderr).toContain(unsaved.session);
  });
});
