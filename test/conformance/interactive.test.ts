/** The conversation in a terminal, driven as a person would. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { openTerminal, type Terminal } from "../support/terminal.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const script = {
  turns: [
    {
      events: [
        { text: "# Plan\nI will **write** it.\n" },
        { call: { tool: "run_terminal_cmd", arguments: { command: "echo approved > made.txt && cat made.txt" } } },
      ],
    },
    {
      events: [
        {
          call: {
            tool: "ask_question",
            arguments: {
              title: "One question",
              questions: [
                {
                  id: "store",
                  prompt: "Which storage?",
                  options: [
                    { id: "sqlite", label: "SQLite" },
                    { id: "postgres", label: "PostgreSQL" },
                  ],
                },
              ],
            },
          },
        },
      ],
    },
    { events: [{ text: "It was answered.\n" }, { wait_ms: 60_000 }, { text: "never seen" }] },
    { events: [{ text: "Still here after all.\n" }] },
  ],
};

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
});

function start(columns: number, rows: number, more: { readonly cwd?: string; readonly args?: readonly string[] } = {}) {
  const cwd = more.cwd ?? folders.newFolder({ "s.json": JSON.stringify(script) });
  const args = ["--model", "scripted:s.json", "--sandbox", "disabled", ...(more.args ?? [])];
  const terminal = openTerminal({ columns, rows, cwd, args, environment: { NO_COLOR: columns < 80 ? "1" : "" } });
  open.push(terminal);
  return { cwd, terminal };
}

describeWithProgram("tmux", () => {
  test.each([
    [80, 24],
    [40, 20],
  ])(
    verifies(["C14", "C23", "C25", "S-16"], "a whole conversation at %d x %d: approval, question, cancel, resume"),
    async (columns, rows) => {
      const { cwd, terminal } = start(columns, rows);
      await terminal.waitFor("›");
      terminal.type("begin");
      terminal.press("Enter");

      const approval = await terminal.waitFor("Reject");
      expect(approval.replaceAll(/[│\s]+/g, " ")).toContain("$ echo approved > made.txt && cat made.txt");
      expect(existsSync(join(cwd, "made.txt"))).toBe(false);
      terminal.press("Enter");

      const asked = await terminal.waitFor("Which storage?");
      expect(asked).not.toContain("NEEDS_INPUT");
      expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("approved\n");
      terminal.press("Down", "Enter");

      await terminal.waitFor("It was answered.");
      terminal.press("C-c");
      await terminal.waitFor(/CANCELLED[\s\S]*›/);
      terminal.press("C-c");
      await terminal.waitFor("Press Ctrl-C again");
      terminal.press("C-c");
      const left = await terminal.waitFor("SHELL>");
      expect(left).not.toContain("never seen");
      const [, session = ""] = /sheaf --resume ([0-9a-f-]{36})/.exec(left.replaceAll(/\n/g, "")) ?? [];
      terminal.close();
      open.pop();

      const again = start(columns, rows, { cwd, args: ["--resume", session] });
      await again.terminal.waitFor("›");
      again.terminal.type("go on");
      again.terminal.press("Enter");
      await again.terminal.waitFor("Still here after all.");
      again.terminal.type("/export markdown out.md");
      again.terminal.press("Enter");
      await again.terminal.waitFor("written: out.md");
      expect(readFileSync(join(cwd, "out.md"), "utf8")).toContain("store: postgres");
    },
  );

  test(verifies("C23", "after SIGTERM the terminal shows keys and the cursor again"), async () => {
    const { terminal } = start(80, 24);
    await terminal.waitFor("›");
    const raw = terminal.readModes();
    expect(raw).toMatch(/-icanon/);
    process.kill(terminal.readPid()!, "SIGTERM");
    await terminal.waitFor("SHELL>");
    expect(terminal.readModes()).toMatch(/[^-]icanon[\s\S]*[^-]echo\b/);
  });

  test(verifies("C35", "/compact summarises the conversation; a new one has nothing to summarise"), async () => {
    const say = (word: string) => ({ events: [{ text: `${word}\n${"and so on. ".repeat(200)}\nEnd of ${word}.\n` }] });
    const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [say("First"), say("Second")] }) });
    const { terminal } = start(80, 24, { cwd });
    await terminal.waitFor("›");
    terminal.type("/compact\r");
    await terminal.waitFor(/There is nothing to summarise\.[^]*›/);
    terminal.type("one\r");
    await terminal.waitFor(/End of First[^]*›/);
    terminal.type("two\r");
    await terminal.waitFor(/End of Second[^]*›/);
    terminal.type("/compact\r");
    const screen = await terminal.waitFor(/Summarised the conversation so far: about \d+ tokens are left/);
    expect(screen.match(/There is nothing to summarise/g)?.length ?? 0).toBeLessThan(2);
    terminal.press("C-d");
    await terminal.waitFor("SHELL>");
  });

  test(verifies("C64", "/ask edits puts the whole edit to the person, and the diff is shown afterwards"), async () => {
    const edit = { old_string: "two", new_string: "zwei" };
    const call = { tool: "edit_file", arguments: { target_file: "a.txt", edits: [edit] } };
    const turns = [{ events: [{ call }] }, { events: [{ text: "Not now.\n" }] }];
    const again = [{ events: [{ call }] }, { events: [{ text: "It is done.\n" }] }];
    const cwd = folders.newFolder({
      "s.json": JSON.stringify({ turns: [...turns, ...again] }),
      "a.txt": "one\ntwo\nthree\n",
    });
    const { terminal } = start(80, 30, { cwd });
    await terminal.waitFor("›");
    terminal.type("/ask edits\r");
    await terminal.waitFor("ask first: Write(**)");
    terminal.type("change it\r");
    const question = await terminal.waitFor("Reject");
    expect(question.replaceAll(/[│\s]+/g, " ")).toContain('{ "target_file": "a.txt" } -two +zwei');
    terminal.press("Down", "Down", "Enter");
    await terminal.waitFor("What should it do instead?");
    terminal.press("Enter");
    await terminal.waitFor(/Not now[^]*›/);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toContain("two");
    terminal.type("now\r");
    await terminal.waitFor(/now[^]*Reject/);
    terminal.press("Enter");
    const shown = await terminal.waitFor(/It is done[^]*›/);
    expect(shown).toMatch(/Edited file {2}a\.txt \+1 −1\n\s+1 {2}one\n\s+2 -two\n\s+2 \+zwei\n\s+3 {2}three\n/);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\nzwei\nthree\n");
  });

  test("commands with a slash: help, mode, a wrong value, a slip", async () => {
    const { terminal } = start(80, 24);
    await terminal.waitFor("›");
    terminal.type("/help\r");
    await terminal.waitFor("undo the last response");
    terminal.type("/mode plan\r");
    await terminal.waitFor("mode: plan");
    terminal.type("/mode nonsense\r");
    await terminal.waitFor('--mode "nonsense" is unknown');
    terminal.type("/hepl\r");
    await terminal.waitFor("did you mean /help?");
    terminal.type("/mode\r");
    expect((await terminal.waitFor(/mode: plan[\s\S]*mode: plan/)).includes("mode: plan")).toBe(true);
    terminal.press("C-d");
    await terminal.waitFor("SHELL>");
  });
});
