/** The modes, through the built command line: what each may do, and how it ends. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import type { ChatResponse, Document } from "@sheaf/protocol";
import { createTestFolder, parseStream, runProgram, runSheaf } from "../support/sheaf.ts";
import { parseValidLines } from "../support/schema-check.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

type Event = Readonly<Record<string, unknown>>;

const call = (tool: string, args: object): Event => ({ call: { tool, arguments: args } });
const text = (value: string): Event => ({ text: value });

function createSession(files: Readonly<Record<string, string>>) {
  const [cwd, home] = [folders.newFolder(files), folders.newFolder()];
  const script = join(home, "script.json");
  return {
    cwd,
    read: (file: string) => readFileSync(join(cwd, file), "utf8"),
    /** Plays turns; the answer in the format of documents. */
    async run(turns: readonly (readonly Event[])[], ...args: string[]) {
      writeFileSync(script, JSON.stringify({ turns: turns.map((events) => ({ events })), after: "error" }));
      const words = ["-p", "--model", `scripted:${script}`, "--output-format", "documents", ...args, "go"];
      const result = await runSheaf(words, { cwd, home });
      const [line = ""] = result.stdout.split("\n");
      const response = (line === "" ? { documents: [] } : JSON.parse(line)) as ChatResponse;
      return { ...result, response, documents: response.documents };
    },
    command: (...words: string[]) => runSheaf(words, { cwd, home }),
    /** The process is killed with the tool call of this number. */
    killBehind(calls: number, turns: readonly (readonly Event[])[], ...args: string[]) {
      writeFileSync(script, JSON.stringify({ turns: turns.map((events) => ({ events })), after: "error" }));
      return runProgram(["-p", "--model", `scripted:${script}`, ...args, "go"], {
        cwd,
        home,
        onOutput: (output, child) =>
          void (output.split('"subtype":"completed"').length > calls && child.kill("SIGKILL")),
      });
    },
    prompt: (turns: readonly (readonly Event[])[], ...args: string[]) => {
      writeFileSync(script, JSON.stringify({ turns: turns.map((events) => ({ events })), after: "error" }));
      return runSheaf(["-p", "--model", `scripted:${script}`, ...args, "go"], { cwd, home });
    },
  };
}

const toTypes = (documents: readonly Document[]) => documents.map(({ type }) => type);

const source =
  "export function mean(list) {\n  const sum = list.reduce((a, b) => a + b);\n  return sum / list.length;\n}\n";

describe("a session in plan mode", () => {
  test(verifies("C69", "stays in it, until a flag says otherwise"), async () => {
    const session = createSession({});
    const write = [[call("write_file", { target_file: "new.txt", content: "x" })], [text("Done.")]];
    // The script goes on where the session is.
    const turns = [[text("A plan.")], ...write, [text("Really?")], ...write, [text("Yes.")]];
    const run = async (...args: string[]) => (await session.run(turns, ...args)).response.mode;
    expect(await run("--mode", "plan")).toBe("plan");
    expect(await run("--continue")).toBe("plan");
    expect(readdirSync(session.cwd)).toEqual([]);
    expect(await run("--continue")).toBe("plan");
    expect(await run("--continue", "--mode", "agent")).toBe("agent");
    expect(session.read("new.txt")).toBe("x");
    expect(await run("--continue")).toBe("agent");
  });
});

describe("a resumed session", () => {
  const ask = call("ask_question", { title: "?", questions: [{ id: "q", prompt: "Which?", options: [] }] });
  const command = [call("run_terminal_cmd", { command: "touch x" })];
  const save = [call("write_file", { target_file: "new.txt", content: "x" })];
  const turns = [[ask], command, save, [text("A.")], command, save, [text("B.")]];

  test(verifies(["C69", "C25"], "keeps its model, --deny and --tools, and says so"), async () => {
    const session = createSession({});
    const first = await session.prompt(
      turns,
      "--deny",
      "Shell(*)",
      "--tools",
      "ask_question,run_terminal_cmd",
      "--force",
    );
    const [, id = ""] = /answer with sheaf answer (\S+) /.exec(first.stderr) ?? [];
    const toResult = ({ stdout }: { readonly stdout: string }) => parseStream(stdout).at(-1);
    const answered = toResult(await session.command("answer", id, "q=a", "--force"));
    expect(answered).toMatchObject({ result: "A.", notices: [{ code: "RESTRICTIONS_KEPT" }] });
    expect(JSON.stringify(answered)).toContain("keeps --deny Shell(*), --tools ask_question run_terminal_cmd");
    expect(readdirSync(session.cwd)).toEqual([]);
    const lifted = ["-p", "--resume", id, "--deny", "Read(.env)", "--tools", "*", "--force", "go on"];
    expect(toResult(await session.command(...lifted))).not.toHaveProperty("notices");
    expect(readdirSync(session.cwd)).toContain("new.txt");
  });
});

describe("plan and ask", () => {
  const forbidden: readonly (readonly [string, object])[] = [
    ["write_file", { target_file: "x", content: "x" }],
    ["edit_file", { target_file: "a.js", edits: [{ old_string: "sum", new_string: "x", replace_all: true }] }],
    ["delete_file", { target_file: "a.js" }],
    ["rename_file", { source_file: "a.js", destination_file: "b.js" }],
    ["run_terminal_cmd", { command: "touch x" }],
    ["run_terminal_cmd", { command: "ls" }],
    ["web_fetch", { url: "http://127.0.0.1:9/" }],
  ];

  test(
    verifies("S-15", "refuse every tool with an effect below the model, also with --force and rules that allow it"),
    async () => {
      for (const mode of ["plan", "ask"]) {
        const session = createSession({ "a.js": source });
        const turns = [...forbidden.map(([tool, args]) => [call(tool, args)]), [text("Done.")]];
        const rules = ["--force", "--allow", "Shell(*)", "--allow", "Write(**)", "--trust"];
        const { documents, code } = await session.run(turns, "--mode", mode, ...rules);
        expect(code).toBe(0);
        const errors = documents.flatMap((document) =>
          document.type === "error" ? [document.metadata.errorCode] : [],
        );
        expect(errors, mode).toEqual(forbidden.map(() => "PERMISSION_DENIED"));
        expect(readdirSync(session.cwd)).toEqual(["a.js"]);
        expect(session.read("a.js")).toBe(source);
      }
    },
  );

  test(verifies("N40", "plan mode ends with its plan, in every format"), async () => {
    const session = createSession({ "a.js": source });
    const plan = call("create_plan", {
      title: "Mean of nothing",
      overview: "An empty list gives 0.",
      plan: "Guard `mean` in a.js.",
      todos: [
        { id: "guard", content: "Guard the empty list" },
        { id: "test", content: "Test it", dependencies: ["guard"] },
      ],
    });
    const turns = [[call("read_file", { target_file: "a.js" })], [text("Found it."), plan]];
    const { documents, response, code } = await session.run(turns, "--mode", "plan");
    expect(code).toBe(0);
    expect(toTypes(documents)).toEqual(["tool_call", "text", "plan"]);
    expect(response).toMatchObject({ status: "completed", metadata: { finishReason: "end_turn", turnCount: 2 } });

    const json = await session.prompt([[plan]], "--plan", "--output-format", "json");
    const [line] = parseValidLines("stream-json", [json.stdout]) as [Record<string, unknown>];
    expect(line).toMatchObject({
      subtype: "success",
      result: "",
      plan: { title: "Mean of nothing", todos: [{ id: "guard", status: "pending" }, { dependencies: ["guard"] }] },
    });
    const shown = await session.prompt(turns, "--plan", "--output-format", "text");
    expect(shown.stdout).toBe(
      "Read file\nUpdated plan\n\nFound it.\n\n# Mean of nothing\n\nAn empty list gives 0.\n\nGuard `mean` in a.js.\n\n" +
        "- [ ] guard: Guard the empty list\n- [ ] test: Test it (after guard)\n",
    );
  });

  test(
    verifies(["N40", "N42"], "plan mode ends with a question too; in agent mode a plan is a step like others"),
    async () => {
      const session = createSession({ "a.js": source });
      const question = call("ask_question", {
        title: "Empty list",
        questions: [{ id: "q", prompt: "0 or an error?", options: [{ id: "zero", label: "0" }] }],
      });
      const asked = await session.run([[question]], "--mode", "plan");
      expect([asked.code, toTypes(asked.documents)]).toEqual([10, ["clarification"]]);
      const plan = call("create_plan", { title: "t", overview: "o", plan: "p", todos: [] });
      const agent = await session.run([[plan], [text("Now I do it.")]]);
      expect([agent.code, toTypes(agent.documents)]).toEqual([0, ["plan", "text"]]);
    },
  );
});

describe("debug", () => {
  test(
    verifies("S-15", "the whole cycle with the tools of agent mode: hypotheses, marked lines, evidence, fix"),
    async () => {
      skipIfMissing(missingBubblewrap);
      const session = createSession({
        "mean.js": source,
        "main.js": 'import { mean } from "./mean.js";\nmean([]);\n',
        "package.json": '{"type":"module"}',
      });
      const todos = [{ id: "h1", content: "The list is empty", status: "in_progress" }];
      const head = "export function mean(list) {";
      const mark = '  console.log("h1: length", list.length); // sheaf-debug h1';
      const edit = (old_string: string, new_string: string) =>
        call("edit_file", { target_file: "mean.js", edits: [{ old_string, new_string }] });
      const turns = [
        [call("todo_write", { todos, merge: false })],
        [edit(head, `${head}\n${mark}`)],
        [call("run_terminal_cmd", { command: "node main.js" })],
        [edit("a + b)", "a + b, 0)"), edit(`${mark}\n`, "")],
        [text("The list was empty.")],
      ];
      const { documents, response, code } = await session.run(turns, "--mode", "debug", "--force");
      expect([code, response.status]).toEqual([0, "completed"]);
      const command = documents.find((document) => document.type === "terminal_command")!;
      expect(command.metadata.output).toContain("h1: length 0");
      expect(session.read("mean.js")).toBe(source.replace("a + b)", "a + b, 0)"));
    },
  );
});
