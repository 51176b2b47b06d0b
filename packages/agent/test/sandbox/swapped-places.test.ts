/** Tools that take a path, while a program swaps folders, their parents and files for links (S-21, S-84). */
import { spawn } from "node:child_process";
import { lstatSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { describeWithProgram } from "../../../../test/support/programs.ts";
import { chooseRuns, reportFigure, soakTimeout } from "../../../../test/support/soak.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createSearchProgram } from "@sheaf/sandbox/launch/search-program";
import { readRepositoryInstructions } from "../../src/run/prompts/instructions.ts";
import { createToolBox } from "../../src/tools/tool-box.ts";
import { createToolState } from "../../src/tools/tool-state.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { isQuotedExactly } from "@sheaf/base/files/read-file";
import { createWorkspace } from "@sheaf/base/files/workspace";
import { createContext } from "../tools/search-workspace.ts";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { environment, toFileRules } from "../../../sandbox/test/run-command.ts";
import { createFolder, describeWithSandbox, sandbox } from "../../../sandbox/test/sandbox-run.ts";

/** Exchanges each name with its twin, so that something is always there, as fast as the system can. */
const swapper = `
import ctypes, os, sys
os.chdir(sys.argv[1])
exchange = ctypes.CDLL(None).renameat2
pairs = [(name.encode(), (name + ".twin").encode()) for name in sys.argv[2:]]
while True:
    for one, other in pairs:
        exchange(-100, one, -100, other, 2)
`;

const canary = "CANARY inside\n";
const own = "inside inside\n";
const denials = ["Read(secret/**)", "Write(secret/**)"];

/** What is in a folder and the folders below. */
function readTree(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const toText = (file: string): string => `${file}=${readFileSync(file, "utf8")}`;
  return entries
    .map((entry) => (entry.isFile() ? toText(join(entry.parentPath, entry.name)) : join(entry.parentPath, entry.name)))
    .toSorted()
    .join("\n");
}

/** `folder`, `parent`, `agents` and `file` swap with links that lead out, `denied` with one to what rules deny. */
function createSwappedPlaces() {
  const files = ["folder/a.js", "folder/sub/b.js", "parent/inner/a.js", "agents/inner/AGENTS.md"];
  const toContents = (names: readonly string[], text: string) => Object.fromEntries(names.map((name) => [name, text]));
  const root = createFolder("workspace", {
    ...toContents([...files, "file", "denied/a.js"], own),
    ...toContents(["secret/a.js", "secret/CANARY.js"], canary),
  });
  const outside = createFolder("outside", toContents([...files, "file", "folder/CANARY.js"], canary));
  symlinkSync("CANARY-target", join(outside, "folder/link"));
  const names = ["folder", "parent", "agents", "file"];
  for (const name of names) symlinkSync(join(outside, name), join(root, `${name}.twin`));
  symlinkSync("secret", join(root, "denied.twin"));
  // Open, so that they are found under whatever name.
  const folders = ["folder", "parent/inner", "denied"].map(
    (name) => `/proc/self/fd/${openSync(join(root, name), "r")}`,
  );
  const program = spawn("python3", ["-c", swapper, root, ...names, "denied"], { stdio: "ignore" });
  return {
    root,
    readForbidden: () => readTree(outside) + readTree(join(root, "secret")),
    /** What calls have changed is as before. */
    restore() {
      for (const folder of folders) {
        writeFileSync(join(folder, "a.js"), own);
        rmSync(join(folder, "new.js"), { force: true });
      }
      rmSync(join(root, "new.js"), { force: true });
      const twins = ["file", "file.twin"].map((name) => join(root, name));
      const kinds = new Set(twins.map((file) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()));
      if (kinds.has(true) && kinds.has(false)) return;
      for (const file of twins) rmSync(file, { force: true });
      writeFileSync(twins[0]!, own);
      symlinkSync(join(outside, "file"), twins[1]!);
    },
    end: () => program.kill("SIGKILL"),
  };
}

const edits = [{ old_string: "inside inside", new_string: "inside  inside" }];
const searches = ["folder", "parent/inner", "denied"];
const files = ["folder/a.js", "parent/inner/a.js", "file", "denied/a.js"];

/** Each tool with every kind of place. */
const calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ...[...searches, "file"].map((path) => ["grep_search", { pattern: ".", path }] as const),
  ["grep_search", { pattern: ".", glob: "!secret" }],
  ...searches.map((folder) => ["list_dir", { target_directory: folder }] as const),
  ...searches.map((folder) => ["glob_search", { pattern: "**", target_directory: folder }] as const),
  ["glob_search", { pattern: "{folder,parent,file}/**" }],
  ["list_dir", { target_directory: "folder/link" }],
  ["read_file", { target_file: "folder/link/x" }],
  ...files.map((file) => ["read_file", { target_file: file }] as const),
  ...files.map((file) => ["write_file", { target_file: file, content: "x\n" }] as const),
  ...files.map((file) => ["edit_file", { target_file: file, edits }] as const),
  ...files.map((file) => ["delete_file", { target_file: file }] as const),
  ...files.map((file) => ["rename_file", { source_file: file, destination_file: "new.js" }] as const),
  ...searches.map(
    (to) => ["rename_file", { source_file: "parent/inner/a.js", destination_file: `${to}/new.js` }] as const,
  ),
];

describeWithSandbox("while places are swapped for links", () => {
  describeWithProgram("python3", () => {
    const places = createSwappedPlaces();
    afterAll(places.end);
    const { root } = places;
    const forbidden = places.readForbidden();
    const { signal } = new AbortController();
    const runs = chooseRuns(10, 10_000);
    const search = createSearchProgram({
      sandbox,
      writable: [root],
      environment,
      denials: toFileRules(...denials),
    });

    async function call(toolName: string, args: Readonly<Record<string, unknown>>): Promise<ToolOutcome> {
      const state = createToolState();
      state.todos = [{ id: "1", content: "x", status: "in_progress", dependencies: [] }];
      // A search of the whole workspace is refused where a rule denies a part of it.
      const deny = "glob" in args || args.pattern === "{folder,parent,file}/**" ? [] : denials;
      const permissions = createPolicy({ mode: "debug", force: true, deny });
      const context = createContext(root, { state, mode: "debug", search });
      const tools = createToolBox({ ...context, permissions });
      return tools.execute({ callId: "call_1", toolName, arguments: args }, { signal, emitOutput: () => undefined });
    }

    test.each(calls)(
      verifies(["S-21", "S-84"], "%s %j shows and changes nothing outside or denied"),
      async (tool, args) => {
        const shown: string[] = [];
        for (let run = 0; run < runs; run += 1) {
          const outcome = JSON.stringify(await call(tool, args));
          if (outcome.includes("CANARY")) shown.push(outcome);
          places.restore();
        }
        reportFigure("S-84", `${tool} ${JSON.stringify(args)}: ${shown.length} of ${runs}`);
        expect(shown).toEqual([]);
        expect(places.readForbidden()).toBe(forbidden);
      },
      soakTimeout,
    );

    test(verifies("S-84", "AGENTS.md and quoted lines are read inside only"), async () => {
      const workspace = createWorkspace(root);
      const repository = { root, git: "none", gitFolder: "", commonFolder: "" } as const;
      const quote = { filePath: "folder/a.js", startLine: 1, endLine: 1, content: canary };
      for (let run = 0; run < runs; run += 1) {
        const texts = readRepositoryInstructions(repository, join(root, "agents/inner")).map(({ text }) => text);
        expect(texts.join("")).not.toContain("CANARY");
        expect(await isQuotedExactly(workspace, quote, signal)).toBe(false);
      }
    });
  });
});
