/** What searches leave out because rules deny reading it (S-243). */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createSearchProgram } from "@sheaf/sandbox/launch/search-program";
import type { PermissionOptions } from "@sheaf/permissions/permissions";
import { createToolBox } from "../../src/tools/tool-box.ts";
import type { ToolOutcome } from "../../src/tools/tool.ts";
import { createWorkspace } from "@sheaf/base/files/workspace";
import { createPolicy } from "../../../permissions/test/policy.ts";
import { environment, toFileRules } from "../../../sandbox/test/run-command.ts";
import { describeWithSandbox, sandbox } from "../../../sandbox/test/sandbox-run.ts";
import { createContext, createFolder } from "./search-workspace.ts";

type Call = readonly [toolName: string, args: Record<string, unknown>];

const searches: readonly Call[] = [
  ["grep_search", { pattern: "CANARY|open" }],
  ["grep_search", { pattern: "CANARY|open", path: ".", glob: ".env", output_mode: "count" }],
  ["grep_search", { pattern: "CANARY|open", output_mode: "files_with_matches" }],
  ["grep_search", { pattern: "open\\n.*|CANARY", multiline: true, before: 3 }],
  ["glob_search", { pattern: "**/*" }],
  ["glob_search", { pattern: ".env*", target_directory: "." }],
  ["list_dir", {}],
  ["list_dir", { target_directory: "./" }],
  ["read_file", { target_file: "." }],
];

/** Rules, and files that each denies; links lead there. */
const rules: readonly (readonly [string, readonly string[]])[] = [
  ["Read(.env)", [".env", "a/.env"]],
  ["Read(.ENV)", [".env", "a/.Env"]],
  ["Read(.env*)", [".env.local", ".env"]],
  ["Read(secrets/**)", ["secrets/deep/key.txt"]],
  ["Read(SECRETS)", ["a/secrets/key.txt"]],
  ["Read(/secrets)", ["secrets/key.txt"]],
  ["Read(a/*/k[e]y.txt)", ["a/x/key.txt"]],
  ["Read({a,b}/k*)", ["b/key [1].txt", "a/k{,}!.txt"]],
  ["Read(größe.txt)", ["gro\u0308ße.txt"]],
  ["Read(ROOT/.env)", [".env"]],
  ["Read(LINK/secrets/**)", ["secrets/key.txt"]],
  ["Read(HOME/a/*.txt)", ["a/key.txt"]],
];

function createSecrets(denied: readonly string[]): string {
  const root = createFolder({ "open.txt": "open\n", "src/open.ts": "const open = 1;\n" });
  for (const [index, path] of denied.entries()) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), `CANARY ${index}\nopen CANARY\n`);
    symlinkSync(join(root, path), join(root, `link-${index}.txt`));
  }
  symlinkSync(join(root, "open.txt"), join(root, "harmless.txt"));
  return root;
}

async function call(
  root: string,
  [toolName, args]: Call,
  options: Partial<PermissionOptions>,
  search = createContext(root).search,
): Promise<ToolOutcome> {
  const context = createContext(root, { search });
  const tools = createToolBox({ ...context, permissions: createPolicy(options) });
  const { signal, emitOutput } = context;
  const outcome = await tools.execute({ callId: "call_1", toolName, arguments: args }, { signal, emitOutput });
  await tools.settle();
  return outcome;
}

function expectNothingShown(outcome: ToolOutcome, denied: readonly string[]): void {
  expect(outcome).toMatchObject({ status: "success", denied: expect.any(Number) as number });
  expect(outcome.note).toContain(`The user's rules deny reading ${outcome.denied} place`);
  const text = JSON.stringify(outcome);
  expect(text).not.toContain("CANARY");
  expect(text).not.toContain("link-");
  for (const path of denied) expect(text).not.toContain(JSON.stringify(path.split("/").at(-1)).slice(1, -1));
}

/** The rule for a workspace: `ROOT` is its path, `LINK` a link to it, `HOME` its path from the user's folder on. */
function placeRule(rule: string, root: string): string {
  const link = join(createFolder(), "link");
  symlinkSync(root, link);
  return rule
    .replace("ROOT", root)
    .replace("LINK", link)
    .replace("HOME", `~/${relative(homedir(), root)}`);
}

describe.each(rules)("under the rule %s", (text, denied) => {
  const root = createSecrets(denied);
  const rule = placeRule(text, root);

  test.each(searches)(verifies("S-243", "%s %j leaves out the places and says how many"), async (toolName, args) => {
    const outcome = await call(root, [toolName, args], { deny: [rule] });
    expectNothingShown(outcome, denied);
    const asked = await call(root, [toolName, args], { ask: [rule] });
    expectNothingShown(asked, denied);
    const isFor = toolName === "list_dir" || toolName === "read_file" ? "harmless.txt -> " : /open|No /;
    expect(`${outcome.output} `).toMatch(isFor);
  });

  test.each(["read_file", "grep_search", "list_dir", "glob_search"])(
    verifies("S-243", "a call of %s that names such a place is refused"),
    async (toolName) => {
      for (const path of [...denied, ...denied.map((_, index) => `link-${index}.txt`)]) {
        const named = { target_file: path, path, pattern: "x", target_directory: path };
        const outcome = await call(root, [toolName, named], { deny: [rule] });
        expect(outcome, path).toMatchObject({ status: "rejected", error: { code: "PERMISSION_DENIED" } });
        expect(JSON.stringify(outcome)).not.toContain("CANARY");
      }
    },
  );
});

describeWithSandbox("in the sandbox", () => {
  test.each(rules)(verifies("S-243", "a text search under %s shows the same as without"), async (text, denied) => {
    const root = createSecrets(denied);
    const rule = placeRule(text, root);
    const denials = toFileRules(rule);
    const inside = createSearchProgram({ sandbox, writable: [root], environment, denials });
    for (const search of searches.filter(([toolName]) => toolName === "grep_search")) {
      const outcome = await call(root, search, { deny: [rule] }, inside);
      expectNothingShown(outcome, denied);
      expect(outcome).toEqual(await call(root, search, { deny: [rule] }));
    }
  });
});

describeWithSandbox("more places than the sandbox can hide", () => {
  test(verifies("S-243", "let a text search fail with the reason, and no other search"), async () => {
    const keys = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`${index}.pem`, "CANARY\n"]));
    const root = createFolder({ ...keys, "open.txt": "open\n" });
    const denials = toFileRules("Read(*.pem)");
    const inside = createSearchProgram({ sandbox, writable: [root], environment, denials });
    const options = { deny: ["Read(*.pem)"] };
    const failed = await call(root, ["grep_search", { pattern: "CANARY|open" }], options, inside);
    expect(failed).toMatchObject({ status: "error", error: { code: "SEARCH_FAILED" } });
    expect(failed.error?.message).toMatch(/more than 300 places.*make the rules narrower/);
    const plain = await call(root, ["grep_search", { pattern: "CANARY|open" }], options);
    expect(plain).toMatchObject({ status: "success", denied: 301, output: "open.txt\n1: open" });
    expect(await call(root, ["list_dir", {}], options)).toMatchObject({ denied: 301, output: "open.txt" });
  });
});

describe("what is left out", () => {
  test(verifies("S-243", "is counted in the folders of the call, a denied folder once, with any text"), async () => {
    const files = {
      ".env": "x\n",
      "a/.env": "open\n",
      "a/secrets/1": "open\n",
      "a/secrets/2": "",
      "a/b.txt": "open\n",
    };
    const root = createFolder({ ...files, ".gitignore": ".env\nc/\n", "c/.env": "" });
    const options = { deny: ["Read(.env)", "Read(secrets)"] };
    for (const pattern of ["open", "nowhere"]) {
      expect(await call(root, ["grep_search", { pattern }], options)).toMatchObject({ denied: 3 });
      expect(await call(root, ["grep_search", { pattern, path: "a" }], options)).toMatchObject({ denied: 2 });
    }
    const listed = await call(root, ["list_dir", { target_directory: "a" }], options);
    expect(listed).toMatchObject({ denied: 2, output: "b.txt" });
    const [free] = [await call(root, ["list_dir", {}], { deny: ["Read(nothing)"] })];
    expect(free).not.toHaveProperty("denied");
  });

  test(verifies("S-243", "in an added folder is what rules name there, in each of its spellings"), async () => {
    const root = createFolder({ "open.txt": "open\n" });
    const files = { "secrets/key": "CANARY\n", "b.txt": "CANARY\n", "c.txt": "open\n", "x/.env": "CANARY\n" };
    const added = createFolder(files);
    const context = createContext(root);
    const addedWorkspaces = [createWorkspace(added, { isAdded: true })];
    symlinkSync("b.txt", join(added, "link.txt"));
    const deny = ["Read(secrets/**)", "Read(.env)", `Read(${added}/b.txt)`];
    const permissions = createPolicy({ deny });
    const tools = createToolBox({ ...context, permissions, addedWorkspaces });
    for (const [toolName, args] of [
      ["grep_search", { pattern: "CANARY|open", path: added }],
      ["list_dir", { target_directory: added }],
      ["glob_search", { pattern: "**", target_directory: added }],
    ] as const) {
      const outcome = await tools.execute({ callId: "call_1", toolName, arguments: args }, context);
      expectNothingShown(outcome, ["secrets", ".env", "b.txt", "link.txt"]);
      expect(outcome.output).toContain("c.txt");
    }
    const named = { callId: "call_1", toolName: "read_file", arguments: { target_file: `${added}/link.txt` } };
    expect(await tools.execute(named, context)).toMatchObject({ status: "rejected" });
  });

  test(verifies("S-243", "under an ask rule is shown to an allowed call, and after an always"), async () => {
    const root = createSecrets(["secrets/key.txt"]);
    const context = createContext(root);
    context.state.answers.allow.add("Read(secrets/**)");
    const tools = createToolBox({ ...context, permissions: createPolicy({ ask: ["Read(secrets/**)"] }) });
    const grep = { callId: "call_1", toolName: "grep_search", arguments: { pattern: "CANARY" } };
    expect((await tools.execute(grep, context)).output).toContain("secrets/key.txt");
  });
});

describeWithSandbox("a hard link to a denied file", () => {
  test.each([
    ["read_file", { target_file: "open.txt" }],
    ["edit_file", { target_file: "open.txt", edits: [{ old_string: "x", new_string: "y" }] }],
    ["grep_search", { pattern: "CANARY" }],
  ] as const)(verifies(["S-06", "S-243"], "%s does not show it"), async (...one) => {
    const root = createFolder({ "secrets/key.txt": "CANARY x\n", "free.txt": "free\n" });
    linkSync(join(root, "secrets/key.txt"), join(root, "open.txt"));
    linkSync(join(root, "free.txt"), join(root, "free-too.txt"));
    const options = { force: true, deny: ["Read(secrets/**)"] };
    expect(JSON.stringify(await call(root, one, options))).not.toContain("CANARY x");
    const free = await call(root, ["read_file", { target_file: "free-too.txt" }], options);
    expect(free).toMatchObject({ status: "success", output: "free\n" });
  });
});
