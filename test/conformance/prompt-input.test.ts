/** Where the prompt comes from, and how the command line is read. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestFolder, parseStream, runProgram, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const cwd = folders.newFolder();
const script = join(cwd, "script.json");
writeFileSync(script, JSON.stringify({ turns: [{ events: [{ text: "An answer." }] }], after: "repeat_last" }));
const model = ["--model", `scripted:${script}`] as const;

async function readPrompt(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await runSheaf([...model, ...args], { cwd, ...(input !== undefined && { input }) });
  expect([code, stderr]).toEqual([0, ""]);
  return (parseStream(stdout)[1]!.message as { content: [{ text: string }] }).content[0].text;
}

describe("the prompt", () => {
  test(verifies("C1", "is the words, joined by a blank; -p is a switch"), async () => {
    expect(await readPrompt(["-p", "say", "it  twice"])).toBe("say it  twice");
    expect(await readPrompt(["say", "it", "-p"])).toBe("say it");
    expect(await readPrompt(["inferred", "without", "-p"])).toBe("inferred without -p".replace(" -p", ""));
  });

  test(verifies("C1", "after -- everything is text, also names of commands and flags"), async () => {
    expect(await readPrompt(["-p", "--", "schema", "--force", "--"])).toBe("schema --force --");
    expect(await readPrompt(["agent", "-p", "go on"])).toBe("go on");
    expect(await readPrompt(["-p", "--", "5", "-", "3"])).toBe("5 - 3");
  });

  test(verifies("C1", "is stdin without words, or with -"), async () => {
    expect(await readPrompt(["-p"], "from a pipe\n")).toBe("from a pipe");
    expect(await readPrompt(["-p", "-"], "from a pipe")).toBe("from a pipe");
  });

  test(verifies("C1", "is both when both are there: stdin first, as context"), async () => {
    expect(await readPrompt(["-p", "sum it up"], "line 1\nline 2\n")).toBe("line 1\nline 2\n\nsum it up");
    expect(await readPrompt(["-p", "sum it up"], "")).toBe("sum it up");
  });

  const notice =
    "sheaf: notice: stdin stayed open and sent nothing for 3 s, so the prompt goes without it: " +
    "close stdin (</dev/null), or write - before the prompt to wait for it\n";

  test.concurrent(
    verifies(["C1", "C5", "C15"], "goes without an open stdin that stays silent, and says so"),
    async () => {
      const { code, stdout, stderr } = await runProgram([...model, "-p", "go"], { cwd, hasOpenInput: true });
      expect([code, stderr]).toEqual([0, notice]);
      const lines = parseStream(stdout);
      expect(lines[0]).toMatchObject({ subtype: "init", stdin: "skipped" });
      expect(lines.at(-1)).toMatchObject({ subtype: "success", notices: [{ code: "STDIN_SKIPPED" }] });
    },
  );

  test.concurrent(verifies(["C1", "C15"], "waits for a slow pipe, and for one that begins late after -"), async () => {
    const read = async (command: string) => {
      const wrapper = ["sh", "-c", command, "sh"];
      const { code, stdout, stderr } = await runProgram([...model, "-p"], { cwd, wrapper });
      expect([code, stderr]).toEqual([0, ""]);
      const [init, user] = parseStream(stdout);
      expect(init).not.toHaveProperty("stdin");
      return (user!.message as { content: [{ text: string }] }).content[0].text;
    };
    const commands = ['(sleep 1; echo a diff) | "$@" review', '(sleep 4; echo a diff) | "$@" - review'];
    expect(await Promise.all(commands.map(read))).toEqual(["a diff\n\nreview", "a diff\n\nreview"]);
  });

  test.concurrent(
    verifies(
      ["C1", "C15", "C30"],
      "in the profile: the notice is for a pipe of a shell, not for a program's open socket",
    ),
    async () => {
      const args = [...model, "--compat", "cursor-2026", "-p", "go"];
      // Node gives its children sockets. The pipe stays open for as long as the program runs.
      const openPipe = 'mkfifo pipe; exec 3<>pipe; "$@" <pipe 3<&-';
      const [socket, pipe] = await Promise.all([
        runProgram(args, { cwd, hasOpenInput: true }),
        runProgram(args, { cwd: folders.newFolder(), wrapper: ["sh", "-c", openPipe, "sh"] }),
      ]);
      expect([socket.code, socket.stdout, socket.stderr]).toEqual([0, "An answer.\n", ""]);
      expect([pipe.code, pipe.stdout, pipe.stderr]).toEqual([0, "An answer.\n", notice]);
    },
  );

  test.concurrent(
    verifies(["C22", "C24"], "is waited for as long as --timeout says, with and without words"),
    async () => {
      for (const words of [[], ["-"], ["go"]]) {
        const { code, stdout, stderr, duration } = await runProgram([...model, "-p", "--timeout", "0.8", ...words], {
          cwd,
          hasOpenInput: true,
          onStart: (child) => child.stdin!.write("half a"),
        });
        expect([code, stderr]).toEqual([
          7,
          "sheaf: BUDGET_TIME: stdin did not end within 0.8 s: close it, or raise --timeout\n",
        ]);
        expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "BUDGET_TIME" } });
        expect(duration).toBeLessThan(10_000);
      }
    },
  );

  test.concurrent(
    verifies("C24", "takes of the time of the run: there is one deadline, from the start of the process"),
    async () => {
      const folder = folders.newFolder({ "stall.json": '{"turns":[{"events":[{"text":"t"},{"stall":true}]}]}' });
      const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:stall.json", "--timeout", "3"], {
        cwd: folder,
        hasOpenInput: true,
        onStart: (child) => setTimeout(() => child.stdin!.end("go"), 2000),
      });
      expect([code, stderr]).toEqual([7, "sheaf: BUDGET_TIME: the run took longer than 3 s: raise --timeout\n"]);
      const { duration_ms: duration } = parseStream(stdout).at(-1) as unknown as { readonly duration_ms: number };
      expect(duration).toBeLessThan(2000);
    },
  );

  test(verifies("C1", "of a megabyte on stdin arrives whole"), async () => {
    const text = "über ein Megabyte \u{1F600}\n".repeat(50_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
    expect(await readPrompt(["-p"], text)).toBe(text.trimEnd());
  });

  test(verifies("C1", "begins after a byte order mark"), async () => {
    expect(await readPrompt(["-p"], "\uFEFFhello")).toBe("hello");
  });

  test("that is missing is a usage error, not a wait", async () => {
    for (const input of ["", " \n"]) {
      const { code, stderr, stdout } = await runSheaf([...model, "-p"], { cwd, input });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^sheaf: USAGE: .*empty.*\n$/);
      expect(parseStream(stdout).at(-1)).toMatchObject({ is_error: true, error: { code: "USAGE" } });
    }
  });
});

describe("flags", () => {
  const fail = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runSheaf(args, { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^sheaf: USAGE: [^\n]+\n$/);
    return stderr;
  };

  test(verifies(["C20", "C21", "C22"], "a setting that cannot be used ends as a run does, in the format"), async () => {
    const id = "5fdf1b86-0000-4000-8000-000000000000";
    for (const [words, message] of [
      [["-p", "--mode", "fast", "x"], /"fast".*agent, plan, ask, debug/],
      [["-p", "--plan", "--mode", "ask", "x"], /exclude each other/],
      [["-p", "--max-turns", "0", "x"], /--max-turns "0"/],
      [["-p", "--max-turns", "1e3x", "x"], /"1e3x"/],
      [["-p", "--workspace", "/no/such/folder", "x"], /\/no\/such\/folder/],
      [["-p", "--on-denied", "maybe", "x"], /continue or stop/],
      [["-p", "--json", "x"], /--json does not go with a prompt/],
      [["answer", "no-id", "a=b"], /answer takes SESSION QUESTION=OPTION…, but got "no-id a=b"/],
      [["answer", id, "a=b"], /is not stored/],
    ] as const) {
      const { code, stdout, stderr } = await runSheaf(words, { cwd });
      expect(code, words.join(" ")).toBe(2);
      const lines = parseStream(stdout);
      expect(lines.map(({ type }) => type)).toEqual(["system", "user", "result"]);
      const { error } = lines.at(-1) as unknown as {
        readonly error: { readonly code: string; readonly message: string };
      };
      expect([error.code, stderr]).toEqual(["USAGE", `sheaf: USAGE: ${error.message}\n`]);
      expect(error.message).toMatch(message);
    }
    const compat = await runSheaf(["--compat", "cursor-2026", "-p", "--mode", "fast", "x"], { cwd });
    expect([compat.code, compat.stdout]).toEqual([2, ""]);
  });

  test(
    verifies(["C20", "C30", "C32"], "a word that is nearly a command asks no model; update is no prompt"),
    async () => {
      expect(await fail("sesions")).toContain("did you mean sheaf ls?");
      expect(await fail("show", "me", "the", "bug")).toContain("sheaf -p -- show me the bug");
      expect(await fail("worker")).toContain("sheaf serve");
      const update = await runSheaf(["update"], { cwd });
      expect([update.code, update.stderr, update.stdout]).toEqual([0, "", expect.stringContaining("npm install")]);
      const version = await runSheaf(["version"], { cwd });
      expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/) as string });
    },
  );

  test("--version is the bare version, --help is one screen", async () => {
    const version = await runSheaf(["--version"], { cwd });
    expect([version.code, version.stderr]).toEqual([0, ""]);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    const help = await runSheaf(["--help"], { cwd });
    expect(help.stdout).toContain("--output-format");
    expect(help.stdout.split("\n").length).toBeLessThanOrEqual(40);
    expect((await runSheaf(["help", "flags"], { cwd })).stdout).toContain("--append-system-prompt-file");
  });
});

describe("the schemas", () => {
  test.each(["stream-json", "documents", "events"])(
    verifies(["C13", "X10"], "sheaf schema %s prints one"),
    async (name) => {
      const { code, stdout, stderr } = await runSheaf(["schema", name], { cwd });
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({ $schema: expect.stringContaining("2020-12") as string });
    },
  );
});
