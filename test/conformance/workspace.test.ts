/** A workspace that is not as hoped: each ends as the contract says, with an answer that tells why. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { describeWhere, notLinux, skipIfMissing } from "../support/describe-where.ts";
import { describeWithNamespaces, toNamespaceWrapper } from "../support/namespace.ts";
import {
  createTestFolder,
  parseStream,
  runAsNeeded,
  runProgram,
  runSheaf,
  type ProgramOptions,
} from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Payload {
  readonly result: Record<string, { errorMessage?: string; reason?: string } & Record<string, unknown>>;
}

async function runOffline(
  cwd: string,
  prompt: string,
  args: readonly string[] = [],
  options: Partial<ProgramOptions> = {},
) {
  const result = await runAsNeeded(["-p", "--model", "offline", ...args, prompt], { cwd, ...options });
  const lines = parseStream(result.stdout);
  const outcomes = lines
    .filter(({ subtype }) => subtype === "completed")
    .map(({ tool_call }) => Object.values(tool_call as Record<string, Payload>)[0]!.result);
  return { ...result, lines, outcomes, answer: String(lines.at(-1)!.result) };
}

describe("reading", () => {
  test(
    verifies(["C9", "C20"], "a missing README is reported by the tool and by the answer; the run ends well"),
    async () => {
      const { code, stderr, outcomes, answer } = await runOffline(
        folders.newFolder(),
        "Read README.md and create a summary",
      );
      expect([code, stderr]).toEqual([0, ""]);
      expect(outcomes).toHaveLength(1);
      expect(outcomes[0]!.error!.errorMessage).toContain("README.md");
      expect(answer).toContain("README.md");
    },
  );

  test(verifies(["R-14", "R-15"], "a file of 200 MB is read as far as the limit, in bounded memory"), async () => {
    const cwd = folders.newFolder({ "big.log": "first line\n" });
    execFileSync("sh", ["-c", "yes 'the quick brown fox jumps over the lazy dog' | head -c 200000000 >> big.log"], {
      cwd,
    });
    expect(statSync(join(cwd, "big.log")).size).toBeGreaterThan(200_000_000);
    const wrapper = ["sh", "-c", 'ulimit -v unlimited; exec /usr/bin/env "$@"', "sh"];
    const { code, stderr, outcomes, duration } = await runOffline(cwd, "Summarise big.log", [], { wrapper });
    expect([code, stderr]).toEqual([0, ""]);
    expect(outcomes[0]!.success).toMatchObject({ exceededLimit: true, isEmpty: false });
    expect(Number(outcomes[0]!.success!.totalLines)).toBeGreaterThan(4_000_000);
    expect(String(outcomes[0]!.success!.content).length).toBeLessThan(1_000_000);
    expect(duration).toBeLessThan(30_000);
  });

  test(
    verifies(
      ["C9", "R-15"],
      "a binary file, a pipe and a link out of the workspace are refused at once; a folder is listed",
    ),
    async () => {
      const cwd = folders.newFolder({ "image.png": new Uint8Array([137, 80, 78, 71, 0, 0, 1, 2, 0, 255]) });
      mkdirSync(join(cwd, "folder.md"));
      execFileSync("mkfifo", [join(cwd, "pipe.md")]);
      symlinkSync("/etc/passwd", join(cwd, "link.md"));
      for (const name of ["image.png", "folder.md", "pipe.md", "link.md", "../outside.md", "/etc/hosts"]) {
        const { code, outcomes, answer, duration } = await runOffline(cwd, `Summarise "${name}"`);
        expect(code).toBe(0);
        const outcome = name === "folder.md" ? "success" : "error";
        expect(outcomes.map((value) => Object.keys(value)[0])).toEqual([outcome]);
        expect(answer).not.toContain("root:");
        expect(duration).toBeLessThan(10_000);
      }
    },
  );
});

describeWithNamespaces("writing", () => {
  test(verifies("C9", "into a read-only workspace is reported by the tool and by the answer"), async () => {
    const cwd = folders.newFolder({ "README.md": "# Title\n\nA text about something.\n" });
    const setup = `mount --bind ${cwd} ${cwd} && mount -o remount,ro,bind ${cwd} && cd ${cwd}`;
    const { code, stderr, outcomes, answer } = await runOffline(cwd, "Read README.md and create a summary", [], {
      wrapper: toNamespaceWrapper(setup),
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(outcomes.map((outcome) => Object.keys(outcome)[0])).toEqual(["success", "error"]);
    expect(outcomes[1]!.error!.errorMessage).toMatch(/read-only/i);
    expect(answer).toContain("summary.txt");
    expect(existsSync(join(cwd, "summary.txt"))).toBe(false);
  });
});

describe("commands", () => {
  test(
    verifies(
      ["C9", "S-11"],
      "without a sandbox and without a rule are refused, and the answer names the way; with one they run",
    ),
    async () => {
      skipIfMissing(missingBubblewrap);
      const cwd = folders.newFolder();
      const refused = await runOffline(cwd, "run `env echo hello`", ["--sandbox", "disabled"]);
      expect(refused.code).toBe(0);
      expect(refused.outcomes[0]!.rejected!.reason).toMatch(/--force|--allow/);
      expect(refused.answer).toMatch(/--force|--allow/);
      const allowed = await runOffline(cwd, "run `env echo hello`", [
        "--sandbox",
        "disabled",
        "--allow",
        "Shell(env echo)",
      ]);
      expect(allowed.outcomes[0]!.success).toMatchObject({ exitCode: 0, stdout: "hello\n" });
      const forced = await runOffline(cwd, "run `env echo hello`", ["--sandbox", "disabled", "--force"]);
      expect(forced.outcomes[0]!.success).toMatchObject({ exitCode: 0 });
      const denied = await runOffline(cwd, "run `env echo hello`", ["--force", "--deny", "Shell(echo)"]);
      expect(Object.keys(denied.outcomes[0]!)).toEqual(["rejected"]);
    },
  );

  test(verifies("S-15", "and writes never happen in the modes plan and ask, even with --force"), async () => {
    const cwd = folders.newFolder();
    writeFileSync(
      join(cwd, "script.json"),
      JSON.stringify({
        turns: [
          {
            events: [
              { call: { tool: "write_file", arguments: { target_file: "x", content: "x" } } },
              { call: { tool: "run_terminal_cmd", arguments: { command: "touch y" } } },
            ],
          },
          { events: [{ text: "Done." }] },
        ],
      }),
    );
    for (const mode of ["plan", "ask"]) {
      const args = ["-p", "--force", "--mode", mode, "--model", "scripted:script.json", "go"];
      const lines = parseStream((await runSheaf(args, { cwd })).stdout);
      const outcomes = lines
        .filter(({ subtype }) => subtype === "completed")
        .map(({ tool_call }) => Object.keys(Object.values(tool_call as Record<string, Payload>)[0]!.result)[0]);
      expect(outcomes).toEqual(["rejected", "rejected"]);
      expect([existsSync(join(cwd, "x")), existsSync(join(cwd, "y"))]).toEqual([false, false]);
      expect(lines[0]).toMatchObject({ permissionMode: mode });
    }
  });
});

test("a sparse file does not fool the limits", async () => {
  const cwd = folders.newFolder({ "sparse.md": "" });
  truncateSync(join(cwd, "sparse.md"), 2_000_000_000);
  const { code, outcomes, duration } = await runOffline(cwd, "Summarise sparse.md");
  expect(code).toBe(0);
  expect(Object.keys(outcomes[0]!)).toEqual(["error"]);
  expect(duration).toBeLessThan(10_000);
});

describeWhere("a name that is not UTF-8", notLinux, () => {
  test(verifies(["C20", "C21"], "of the workspace or an added folder is reported, not called missing"), async () => {
    const cwd = folders.newFolder();
    execFileSync("sh", ["-c", 'mkdir -p "$(printf "w\\377/inner")"; ln -s "$(printf "w\\377")" link'], { cwd });
    const inside = ["sh", "-c", 'cd "$(printf "w\\377/inner")" && exec "$@"', "sh"];
    const given = ["sh", "-c", 'exec "$@" "$(printf "w\\377")"', "sh"];
    for (const [words, wrapper, what] of [
      [["hi"], inside, "the workspace "],
      [["--workspace", "link", "hi"], [], "the workspace "],
      [["hi", "--workspace"], given, "the workspace "],
      [["--add-dir", "link", "hi"], [], "--add-dir "],
      [["hi", "--add-dir"], given, "--add-dir "],
    ] as const) {
      const { code, stderr } = await runProgram(["-p", "--model", "offline", ...words], { cwd, wrapper });
      expect([code, stderr], words.join(" ")).toEqual([2, expect.stringMatching(`^sheaf: USAGE: ${what}`)]);
      expect(stderr).toMatch(/cannot be opened, because its name is not UTF-8: rename the folder\n$/);
    }
  });
});
