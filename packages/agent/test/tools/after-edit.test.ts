import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { CommandOutcome, CommandRequest } from "@sheaf/sandbox/command";
import type { AfterEditCommand } from "../../src/tools/after-edit.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { playCommands } from "./ended-command.ts";
import { createContext, createFolder } from "./search-workspace.ts";

/** Tools in a folder whose commands are played. */
function createTools(
  files: Record<string, string>,
  afterEdit: readonly AfterEditCommand[],
  play: (request: CommandRequest) => Partial<CommandOutcome> = () => ({}),
  options: Parameters<typeof createPolicy>[0] = { sandbox: "enabled" },
) {
  const root = createFolder(files);
  const requests: CommandRequest[] = [];
  const context = createContext(root);
  const { signal, emitOutput } = context;
  const box = createToolBox({
    ...context,
    commands: playCommands((request) => {
      requests.push(request);
      return play(request);
    }),
    permissions: createPolicy(options),
    afterEdit,
  });
  const call = (toolName: string, args: Record<string, unknown>): Promise<ToolOutcome> =>
    box.execute({ callId: "call_1", toolName, arguments: args }, { signal, emitOutput });
  const edit = (file: string, from: string, to: string) =>
    call("edit_file", { target_file: file, edits: [{ old_string: from, new_string: to }] });
  return { root, requests, call, edit };
}

const changesOf = ({ effect }: ToolOutcome) => (effect?.kind === "file_edit" ? effect.changes : []);

describe("commands after an edit", () => {
  test("run for the files that their glob matches, and say in the result what they found", async () => {
    const list = [
      { glob: "*.ts", command: "tsc" },
      { glob: "*.md", command: "lint" },
      { glob: "src/**", command: "test {file}" },
    ];
    const tools = createTools({ "src/a.ts": "a\n", "b.txt": "b\n" }, list, ({ command }) =>
      command === "tsc" ? { exitCode: 2, output: "\u001b[31ma.ts(1,1): error\u001b[0m\n" } : {},
    );
    const outcome = await tools.edit("src/a.ts", "a", "b");
    expect(outcome.output).toBe("Edited src/a.ts: line 1, +1 -1.\ntsc: exit code 2\na.ts(1,1): error\ntest {file}: ok");
    expect(tools.requests).toMatchObject([{ command: "tsc" }, { command: "test './src/a.ts'" }]);
    expect(tools.requests[0]).toMatchObject({ workingDirectory: tools.root, timeoutMs: 60_000 });
    expect((await tools.edit("b.txt", "b", "c")).output).toBe("Edited b.txt: line 1, +1 -1.");
    expect(tools.requests).toHaveLength(2);
  });

  test("do not run after a failure, nor after other tools", async () => {
    const tools = createTools({ "a.ts": "a\n" }, [{ glob: "*", command: "x" }]);
    expect(await tools.edit("a.ts", "nothing", "b")).toMatchObject({ error: { code: "NO_MATCH" } });
    await tools.call("read_file", { target_file: "a.ts" });
    await tools.call("rename_file", { source_file: "a.ts", destination_file: "b.ts" });
    await tools.call("delete_file", { target_file: "b.ts" });
    expect(tools.requests).toEqual([]);
  });

  test(verifies("S-96", "a formatter's change is a change of the call, and no surprise to the next edit"), async () => {
    const list = [{ glob: "*.ts", command: "format {file}" }];
    const tools = createTools({ "a.ts": "one\ntwo\n" }, list, () => {
      const file = join(tools.root, "a.ts");
      writeFileSync(file, readFileSync(file, "utf8").replaceAll('"', "'"));
      return {};
    });
    const outcome = await tools.edit("a.ts", "two", 'two("x")');
    expect(outcome.output).toContain("These commands changed the file (+1 -1); it is now:\n2\ttwo('x')");
    const [own, formatted, ...others] = changesOf(outcome);
    expect(others).toEqual([]);
    expect(own).toMatchObject({ after: 'one\ntwo("x")\n' });
    expect(formatted).toMatchObject({ operation: "edit", hashBefore: own!.hashAfter, after: "one\ntwo('x')\n" });
    const next = await tools.edit("a.ts", "two('x')", "three");
    expect(next).toMatchObject({ status: "success" });
    expect(next.note).toBeUndefined();
    expect(await tools.call("write_file", { target_file: "a.ts", content: "new\n" })).toMatchObject({
      status: "success",
    });
  });

  test(verifies("S-96", "a name is one word of the command"), async () => {
    const tools = createTools({}, [{ glob: "*", command: "format {file} $& {file}" }]);
    for (const name of ["-rf", "a'; rm x; '.ts", "$(x) $&.ts"])
      await tools.call("write_file", { target_file: name, content: "x" });
    expect(tools.requests.map(({ command }) => command)).toEqual([
      "format './-rf' $& './-rf'",
      String.raw`format './a'\''; rm x; '\''.ts' $& './a'\''; rm x; '\''.ts'`,
      "format './$(x) $&.ts' $& './$(x) $&.ts'",
    ]);
  });

  test(verifies(["S-96", "C165"], "what the model may not run unasked does not run, which is a notice"), async () => {
    const list = [{ glob: "*", command: "npx tsc" }];
    for (const options of [{ sandbox: "disabled" }, { sandbox: "enabled", deny: ["Shell(npx)"] }] as const) {
      const tools = createTools({ "a.ts": "a" }, list, undefined, options);
      const outcome = await tools.edit("a.ts", "a", "b");
      expect(outcome).toMatchObject({ status: "success", output: expect.stringMatching(/\nnpx tsc: not run: ./) });
      expect(outcome.notice).toMatchObject({
        code: "HOOK_NOT_RUN",
        message: expect.stringMatching(/^the afterEdit command "npx tsc" does not run: ./),
      });
      expect(tools.requests).toEqual([]);
    }
    const allowed = createTools({ "a.ts": "a" }, list, undefined, { sandbox: "disabled", allow: ["Shell(npx tsc)"] });
    expect(await allowed.edit("a.ts", "a", "b")).not.toHaveProperty("notice");
    expect(allowed.requests).toHaveLength(1);
  });

  test(verifies("S-96", "time and output are bounded, and refusals of the sandbox are said"), async () => {
    const list = [{ glob: "*", command: "x" }];
    const play = () => ({ exitCode: 124, timedOut: true, output: "y".repeat(100_000), refusals: ["No network."] });
    const tools = createTools({ "a.ts": "a" }, list, play);
    const { output } = await tools.edit("a.ts", "a", "b");
    expect(output).toContain("x: ended after 60 s\n");
    expect(output).toContain("(96000 characters were left out here.)");
    expect(output.endsWith("No network.")).toBe(true);
    expect(output.length).toBeLessThan(4300);
  });
});
