/** The conversation in a terminal, driven as a person would. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { chooseRows } from "../support/depth.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import { describeWithProgram, findMissing } from "../support/programs.ts";
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
  const sizes = [
    [80, 24],
    [40, 20],
  ] as const;
  test.each(chooseRows(sizes, 1))(
    verifies(["C14", "C23", "C25", "S-16"], "a whole conversation at %d x %d: approval, question, cancel, resume"),
    async (columns, rows) => {
      const { cwd, terminal } = start(columns, rows);
      await terminal.waitFor("›");
      terminal.type("begin");
      terminal.press("Enter");

      const approval = await terminal.waitFor("y or n, then Enter");
      expect(approval.replaceAll(/[│\s]+/g, " ")).toContain("$ echo approved > made.txt && cat made.txt");
      expect(existsSync(join(cwd, "made.txt"))).toBe(false);
      terminal.type("y\r");

      const asked = await terminal.waitFor(/Which storage[^]*↑ ↓, then Enter/);
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
    skipIfMissing(findMissing("pgrep"));
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
    await terminal.waitFor(/The conversation is too short to summarise\.[^]*›/);
    terminal.type("one\r");
    await terminal.waitFor(/End of First[^]*›/);
    terminal.type("two\r");
    await terminal.waitFor(/End of Second[^]*›/);
    terminal.type("/compact\r");
    const screen = await terminal.waitFor(/Summarised the conversation so far: about \d+ tokens are left/);
    expect(screen.match(/The conversation is too short to summarise/g)?.length ?? 0).toBeLessThan(2);
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
    const question = await terminal.waitFor("y or n, then Enter");
    expect(question.replaceAll(/[│\s]+/g, " ")).toContain('{ "target_file": "a.txt" } -two +zwei');
    terminal.type("n\r");
    await terminal.waitFor("What should it do instead?");
    terminal.press("Enter");
    await terminal.waitFor(/Not now[^]*›/);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toContain("two");
    terminal.type("now\r");
    await terminal.waitFor(/now[^]*y or n, then Enter/);
    terminal.press("Up", "Up", "Enter");
    const shown = await terminal.waitFor(/It is done[^]*›/);
    expect(shown).toMatch(/Edited file {2}a\.txt \+1 −1\n\s+1 {2}one\n\s+2 -two\n\s+2 \+zwei\n\s+3 {2}three\n/);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\nzwei\nthree\n");
  });

  describe("typing", () => {
    const paste = (text: string): Buffer => Buffer.from(`\u001B[200~${text}\u001B[201~`);
    /** Goes on when the file `go-N` is there. */
    const wait = (number: number) => ({
      call: { tool: "run_terminal_cmd", arguments: { command: `until [ -e go-${number} ]; do sleep 0.1; done` } },
    });
    const allow = ["--allow", "Shell(*)"];

    test(verifies("C63", "a paste waits for Enter, whatever it ends with"), async () => {
      const turns = ["First", "Second"].map((word) => ({ events: [{ text: `${word} answer.\n` }] }));
      const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
      const { terminal } = start(60, 24, { cwd });
      await terminal.waitFor("›");
      terminal.send(paste("one\r\nzwei 日本語\rthree\n"));
      await terminal.waitFor(/› one\n {2}zwei 日本語\n {2}three/);
      terminal.type("and more");
      expect(await terminal.waitFor(/ {2}three\n {2}and more/)).not.toContain("answer.");
      terminal.press("Enter");
      await terminal.waitFor(/First answer[^]*›/);
      // A terminal that does not mark it.
      terminal.type("four\rfive\r");
      await terminal.waitFor(/› four\n {2}five/);
      terminal.press("C-c", "C-d");
      expect(await terminal.waitFor("SHELL>")).not.toContain("Second answer.");
      const history = readFileSync(join(cwd, "home/history.jsonl"), "utf8");
      expect(history).toBe('"one\\nzwei 日本語\\nthree\\nand more"\n');
    });

    test(verifies("C63", "what is typed during an answer stays below it, and is the next message"), async () => {
      const turns = [
        { events: [{ text: "The answer begins" }, wait(1)] },
        { events: [{ text: " and goes on.\n" }, wait(2)] },
        { events: [{ text: "It ends.\n" }] },
        { events: [{ text: "Another one.\n" }] },
      ];
      const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
      const { terminal } = start(80, 24, { cwd, args: allow });
      await terminal.waitFor("›");
      terminal.type("begin\r");
      await terminal.waitFor("until");
      terminal.type("typed 漢字 early");
      await terminal.waitFor(/until[^\n]*\n\n› typed 漢字 early/);
      writeFileSync(join(cwd, "go-1"), "");
      await terminal.waitFor(/and goes on\.\n[^]*› typed 漢字 early/);
      terminal.press("Enter");
      await terminal.waitFor("(1 to be sent) ›");
      terminal.type("not sent");
      writeFileSync(join(cwd, "go-2"), "");
      const screen = await terminal.waitFor(
        /It ends\.\n[^\n]*tokens\n› typed 漢字 early\nAnother one\.\n[^\n]*tokens\n› not sent\n/,
      );
      expect(screen.match(/typed/g)).toHaveLength(1);
    });

    test(verifies("C63", "Esc ends the answer, and what was to follow comes back"), async () => {
      const turns = [{ events: [{ text: "It takes long." }, { wait_ms: 60_000 }] }];
      const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
      const { terminal } = start(80, 24, { cwd });
      await terminal.waitFor("›");
      terminal.type("begin\r");
      await terminal.waitFor("It takes long.");
      terminal.type("first\r");
      await terminal.waitFor("(1 to be sent)");
      terminal.type("second");
      await terminal.waitFor("› second");
      terminal.press("Escape");
      await terminal.waitFor(/CANCELLED[^\n]*\n› first\n {2}second/);
      terminal.press("C-c");
      expect(await terminal.waitFor(/CANCELLED[^\n]*\n›\s*$/)).not.toContain("second");
    });

    test(
      verifies(["C63", "S-16"], "keys that were meant for the line allow nothing, nor does Enter or n and Enter"),
      async () => {
        const call = { tool: "run_terminal_cmd", arguments: { command: "touch made.txt" } };
        const turns: object[] = [{ events: [wait(1)] }, { events: [{ call }] }, { events: [{ call }] }];
        turns.push({ events: [{ text: "So be it.\n" }] });
        const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }) });
        const { terminal } = start(80, 24, { cwd, args: [...allow, "--ask", "Shell(touch)"] });
        await terminal.waitFor("›");
        terminal.type("begin\r");
        await terminal.waitFor("until");
        terminal.type("typing");
        await terminal.waitFor("› typing");
        writeFileSync(join(cwd, "go-1"), "");
        await terminal.waitFor("Reject");
        terminal.type("y\r");
        await terminal.waitFor("y or n, then Enter");
        terminal.press("Enter");
        await terminal.waitFor("What should it do instead?");
        terminal.press("Enter");
        await terminal.waitFor(/What should[^]*y or n, then Enter/);
        terminal.type("n\r");
        await terminal.waitFor(/What should[^]*What should/);
        terminal.press("Enter");
        await terminal.waitFor(/So be it[^]*› typing/);
        expect(existsSync(join(cwd, "made.txt"))).toBe(false);
      },
    );

    test(verifies("C63", "Tab, Ctrl-R and the history of an earlier session; windows of any width"), async () => {
      const turns = [{ events: [{ text: "Yes.\n" }] }];
      const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns }), "src/parser.ts": "", "src/party.ts": "" });
      const one = start(80, 24, { cwd });
      await one.terminal.waitFor("›");
      one.terminal.type("see @par");
      one.terminal.press("Tab");
      await one.terminal.waitFor(/› see @src\/par\n {2}@src\/parser\.ts\n {2}@src\/party\.ts/);
      one.terminal.press("Tab");
      await one.terminal.waitFor("› see @src/parser.ts");
      one.terminal.press("Enter");
      expect(await one.terminal.waitFor(/Yes\.[^]*›/)).not.toContain("@src/party.ts");
      one.terminal.close();
      open.pop();

      const { terminal } = start(30, 12, { cwd });
      await terminal.waitFor("›");
      terminal.press("C-r");
      terminal.type("pars");
      await terminal.waitFor("(search: pars) see @src/parse");
      terminal.press("Enter");
      await terminal.waitFor("› see @src/parser.ts");
      terminal.send(Buffer.from([0x20, 0xff, 0xfe, 0x21]));
      await terminal.waitFor("��!");
      terminal.type(" 漢字漢字漢字 end");
      await terminal.waitFor("end");
      for (const [columns, rows] of [
        [14, 8],
        [70, 10],
        [3, 4],
        [60, 12],
      ] as const)
        terminal.resize(columns, rows);
      await terminal.waitFor("› see @src/parser.ts ��! 漢字漢字漢字 end");
      terminal.press("C-c");
      await terminal.waitFor(/›\s*$/);
      // A shell without job control stops nothing.
      terminal.press("C-z");
      terminal.type("still here");
      await terminal.waitFor("› still here");
      terminal.press("C-u");
      await terminal.waitFor(/›\s*$/);
      expect(terminal.readModes()).toMatch(/-icanon/);
      terminal.press("C-d");
      await terminal.waitFor("SHELL>");
      expect(terminal.readModes()).toMatch(/[^-]icanon[\s\S]*[^-]echo\b/);
    });
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
