import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findSkills } from "../../src/config/skills.ts";
import { createSkillTool } from "../../src/tools/read-skill.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { createTemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";

const head = (description: string): string => `---\ndescription: ${description}\n---\nbody\n`;

/** A repository, and a folder of the user beside it. */
function createPlaces() {
  const { root, outside, write } = createTemporaryWorkspace();
  mkdirSync(join(root, ".git"));
  const own = join(dirname(root), "own");
  mkdirSync(own);
  const writeOwn = (path: string, content: string): void => {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), content);
  };
  const find = (trusted = true) => findSkills({ skillFolders: [own], workspace: root, trusted });
  return { root, own, outside, write, writeOwn, find };
}

test(verifies("S-147", "a link in a skill of the user leads nowhere, to a file, a folder or out by its parent"), () => {
  const { own, outside, writeOwn, find } = createPlaces();
  writeFileSync(join(outside, "id_rsa"), "SECRET");
  writeOwn("skills/evil/SKILL.md", head("d"));
  writeOwn("skills/evil/notes.md", "notes");
  symlinkSync(join(outside, "id_rsa"), join(own, "skills/evil/link.md"));
  symlinkSync(outside, join(own, "skills/evil/folder"));
  symlinkSync("..", join(own, "skills/evil/up"));
  mkdirSync(join(own, "skills/second"));
  symlinkSync(join(outside, "id_rsa"), join(own, "skills/second/SKILL.md"));
  mkdirSync(join(own, "commands"));
  symlinkSync(join(outside, "id_rsa"), join(own, "commands/key.md"));
  const { skills, unused } = find();
  expect(skills.map(({ name }) => name)).toEqual(["evil"]);
  const [evil] = skills;
  expect(evil!.read("notes.md")?.toString()).toBe("notes");
  for (const name of ["link.md", "folder/id_rsa", "up/evil/notes.md", "../../credentials.json", "/etc/passwd", "."]) {
    expect(evil!.read(name), name).toBeUndefined();
  }
  expect(unused.map(({ file }) => file)).toEqual([join(own, "commands/key.md")]);
});

test(verifies("S-147", "a skill of the user may be a link; its folder is then the real one"), () => {
  const { own, outside, find } = createPlaces();
  mkdirSync(join(outside, "mine"));
  writeFileSync(join(outside, "mine/SKILL.md"), head("d"));
  mkdirSync(join(own, "skills"));
  symlinkSync(join(outside, "mine"), join(own, "skills/mine"));
  expect(find().skills).toMatchObject([{ name: "mine", folder: join(outside, "mine") }]);
});

test(
  verifies(
    ["S-146", "S-147"],
    "of a repository neither links nor swapped folders are followed, and no pipe is waited for",
  ),
  () => {
    const { root, outside, write, find } = createPlaces();
    mkdirSync(join(outside, "s"));
    writeFileSync(join(outside, "s/SKILL.md"), head("stolen"));
    writeFileSync(join(outside, "s/more.md"), "SECRET");
    write(".claude/skills/real/SKILL.md", head("real"));
    write(".claude/skills/real/more.md", "more");
    symlinkSync(join(outside, "s"), join(root, ".claude/skills/folder"));
    write(".claude/skills/pipe/x", "");
    execFileSync("mkfifo", [join(root, ".claude/skills/pipe/SKILL.md")]);
    mkdirSync(join(outside, "skills"));
    renameSync(join(outside, "s"), join(outside, "skills/s"));
    symlinkSync(outside, join(root, ".agents"));
    const { skills } = find();
    expect(skills.map(({ name }) => name)).toEqual(["real"]);
    expect(find(false).skills).toEqual([]);
    expect(skills[0]!.read("more.md")?.toString()).toBe("more");
    renameSync(join(root, ".claude/skills/real"), join(root, "before"));
    symlinkSync(join(outside, "skills/s"), join(root, ".claude/skills/real"));
    expect(skills[0]!.read("more.md")).toBeUndefined();
  },
);

test(
  verifies("S-146", "a hostile description stays on its line and within its length; huge and odd files are left out"),
  () => {
    const { write, find } = createPlaces();
    write(".claude/skills/a/SKILL.md", head(`x\u2028- evil: y\u0007\u001B[2J ${"l".repeat(5000)}`));
    write(".claude/skills/huge/SKILL.md", head("d") + " ".repeat(256 * 1024));
    write(".claude/skills/b/SKILL.md", "---\nname: ../../b\ndescription: d\n---\n");
    for (let index = 1000; index < 1250; index += 1) write(`.claude/commands/${index}.md`, "text");
    const { skills, unused } = find();
    expect(skills.filter(({ kind }) => kind === "command")).toHaveLength(200);
    const [a, ...rest] = skills.filter(({ kind }) => kind === "skill");
    expect(rest).toEqual([]);
    expect(a!.description).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(a!.description.length).toBeLessThanOrEqual(1024);
    expect(unused.map(({ problem }) => problem)).toEqual([expect.stringContaining("is not a name")]);
  },
);

test(verifies(["S-146", "S-147"], "the model hears of no command and of no skill that is kept from it"), async () => {
  const { writeOwn, find } = createPlaces();
  const { workspace } = createTemporaryWorkspace();
  writeOwn("skills/shown/SKILL.md", head("d"));
  writeOwn("skills/kept/SKILL.md", head("d\ndisable-model-invocation: true"));
  writeOwn("commands/deploy.md", "Deploy.");
  const read = async (name: string, has = (_path: string) => false) => {
    const call = { callId: "call_1", toolName: "read_skill", arguments: { name } };
    const prepared = await createSkillTool(find().skills).prepare(call);
    const context = { workspace: { ...workspace, leftOut: { has } } } as unknown as ToolContext;
    return prepared.ok ? prepared.run(context) : prepared.outcome;
  };
  expect((await read("deploy")).error?.message).toMatch(/use one of shown$/);
  // A person may have sent its name.
  expect(await read("kept")).toMatchObject({ status: "success" });
  const isDenied = (path: string) => path.endsWith("/skills/kept/SKILL.md");
  expect(await read("kept", isDenied)).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
});
