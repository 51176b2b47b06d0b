/** Rules that deny files to the file tools deny them to commands in the sandbox too (S-06). */
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CommandOutcome } from "../src/command.ts";
import { createDeniedIndex } from "../src/hold/denied-places.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { environment, toFileRules } from "./run-command.ts";
import { createFolder, describeWithSandbox, openHeldRun, runHeld } from "./sandbox-run.ts";

function runDenied(command: string, workspace: string, ...rules: readonly string[]): Promise<CommandOutcome> {
  return runHeld(command, workspace, {}, environment, { denials: toFileRules(...rules) });
}

const secrets = {
  ".env": "CANARY-ROOT",
  "packages/a/.env": "CANARY-DEEP",
  "node_modules/b/.env": "CANARY-PACKAGE",
  "secrets/deep/key.pem": "CANARY-FOLDER",
  "config/prod.key": "CANARY-PATH",
  "config/open.txt": "open",
};

describeWithSandbox("what must not be read", () => {
  test.each([
    ["cat .env packages/a/.env node_modules/b/.env", "Read(.env)"],
    ["grep -rs CANARY .", "Read(.env)", "Read(secrets/**)", "Read(config/prod.key)"],
    ["cp -r . /tmp/all; grep -r CANARY /tmp/all", "Read(.env)", "Read(secrets)", "Read(*.key)"],
    [
      "cat secrets/deep/key.pem; ls -R secrets; mv secrets other; cat other/deep/key.pem",
      "Read(secrets/**)",
      "Read(.ENV)",
    ],
    [
      "mv config c2; cat c2/prod.key; ln config/prod.key x; cat x; ln -s config/prod.key y; cat y",
      "Read(config/prod.key)",
    ],
    ["mv packages other; cat other/a/.env; rm -f .env; mv .env x; cat x .env; mv other packages", "Read(.env)"],
    ["tar c . | grep -a CANARY", "Read(**)"],
    [
      "perl -e 'open F, q(.env) or die; print <F>'; cat /proc/self/root/$PWD/.env; cat ./packages/../.env",
      "Read(.e[n]v)",
    ],
    ["cat .env $PWD/.env; cat secrets/deep/key.pem", "Read(ROOT/.env)", "Read(ROOT/secrets/**)"],
  ])(verifies(["S-06", "S-30"], "%s does not show it: %s"), async (command, ...texts) => {
    const workspace = createFolder("workspace", secrets);
    const rules = texts.map((text) => text.replace("ROOT", workspace));
    const { output } = await runDenied(command, workspace, ...rules);
    const wanted = Object.entries(secrets).filter(([path]) =>
      toFileRules(...rules).some(({ glob }) => glob.in(workspace).isCovering(path)),
    );
    expect(wanted).not.toEqual([]);
    for (const [path, content] of wanted) {
      expect(output).not.toContain(content);
      expect(readFileSync(join(workspace, path), "utf8")).toBe(content);
    }
  });

  test.each([
    ["Read(.env)", "shown"],
    ["Read(~/.claude/skills/a/.env)", "shown"],
    ["Read(~/.claude/skills/**)", "CANARY"],
    ["Read(skills)", "CANARY"],
  ])(
    verifies(["S-06", "S-147"], "a skill's folder in a hidden place shows nothing that %s denies"),
    async (rule, seen) => {
      const home = createFolder("home", {
        ".claude/skills/a/SKILL.md": "shown",
        ".claude/skills/a/.env": "CANARY",
        ".claude/key": "CANARY",
      });
      const options = {
        readOnly: [join(home, ".claude/skills/a")],
        denials: toFileRules(rule.replace("~", home)),
      };
      const variables = { ...environment, HOME: home };
      const { output } = await runHeld("grep -rsh . $HOME/.claude", createFolder("workspace"), {}, variables, options);
      expect(output).not.toContain("CANARY");
      expect(output.includes("shown")).toBe(seen === "shown");
    },
  );

  test.each([
    ["cat .env", "Read(.env)", ".env"],
    ["cat $PWD/config/prod.key | head", "Read(config/prod.key)", "config/prod.key"],
    ["cat secrets/deep/key.pem", "Read(secrets)", "secrets"],
    ["cat secrets/none", "Read(secrets)", "secrets"],
    ["echo x >config/open.txt", "Write(config/**)", "config"],
  ])(verifies("S-100", "%s fails, and its result has the rule %s"), async (command, rule, place) => {
    const { refusals } = await runDenied(command, createFolder("workspace", secrets), rule);
    expect(refusals).toEqual([`The rule ${rule} denies ${place} to commands.`]);
    const { refusals: others } = await runDenied("cat other", createFolder("workspace"), rule, "Write(**)");
    expect(others).toEqual([]);
  });

  test(verifies("S-06", "a hard link that was there before does not show it either"), async () => {
    const workspace = createFolder("workspace", { ...secrets, "docs/a.txt": "shown" });
    linkSync(join(workspace, ".env"), join(workspace, "docs/other.txt"));
    linkSync(join(workspace, "secrets/deep/key.pem"), join(workspace, "key.txt"));
    const { output } = await runDenied("cat docs/* key.txt", workspace, "Read(.env)", "Read(secrets)");
    expect(output).toContain("shown");
    expect(output).not.toContain("CANARY");
  });

  test(verifies("S-06", "everything else is there as before"), async () => {
    const workspace = createFolder("workspace", secrets);
    const { output, exitCode } = await runDenied(
      "cat config/open.txt && echo new > config/new.txt && echo more >> config/open.txt && mv config/new.txt here.txt && git init -q sub 2>&1; cat here.txt",
      workspace,
      "Read(config/prod.key)",
      "Read(.env)",
    );
    expect([output, exitCode]).toEqual([expect.stringMatching(/^open.*new\n$/s), 0]);
    expect(readFileSync(join(workspace, "config/open.txt"), "utf8")).toBe("openmore\n");
  });

  test(verifies("S-06", "no command of a run opens it for the next one"), async () => {
    const workspace = createFolder("workspace", secrets);
    const rules = ["Read(config/prod.key)", "Read(.env)"];
    const { run } = openHeldRun(workspace, { denials: toFileRules(...rules) });
    const outputs: string[] = [];
    for (const command of [
      "mv config c2; mkdir -p config",
      "cat c2/prod.key config/prod.key",
      "mv packages p2; ls p2",
      "cat p2/a/.env",
    ])
      outputs.push((await run(command)).output);
    expect(outputs.join("\n")).not.toContain("CANARY");
    expect(outputs[0]).toMatch(/busy/i);
  });

  test(verifies("S-06", "what the user puts there between two commands is hidden too"), async () => {
    const workspace = createFolder("workspace", { "a.txt": "x" });
    const { run } = openHeldRun(workspace, { denials: toFileRules("Read(.env)") });
    await run("cat a.txt");
    mkdirSync(join(workspace, "new"));
    writeFileSync(join(workspace, "new/.env"), "CANARY-LATE");
    utimesSync(workspace, 0, 0);
    const { output } = await run("cat new/.env; cat a.txt");
    // The order of stdout and stderr is open.
    expect(output).toContain("Permission denied");
    expect(output.replace(/cat: .*\n/, "")).toBe("x");
    expect(output).not.toContain("CANARY");
  });

  test(verifies("S-06", "what a denied link leads to is hidden, also outside of the workspace"), async () => {
    const outside = createFolder("outside", { "real.env": "CANARY-LINKED", "other.txt": "other" });
    const workspace = createFolder("workspace", { "shared/real": "CANARY-INNER" });
    symlinkSync(join(outside, "real.env"), join(workspace, ".env"));
    symlinkSync("shared", join(workspace, "secrets"));
    const command = `cat .env secrets/real shared/real ${outside}/real.env; cat ${outside}/other.txt`;
    const { output } = await runDenied(command, workspace, "Read(.env)", "Read(secrets/**)");
    expect(output).toContain("other");
    expect(output).not.toContain("CANARY");
  });
});

describeWithSandbox("what must not be written", () => {
  test.each([
    ["echo new > package-lock.json; rm -f package-lock.json; mv package-lock.json x", "Write(package-lock.json)"],
    [
      "echo new > x; mv -f x package-lock.json; ln -sf x package-lock.json; cp x package-lock.json",
      "Write(*-lock.json)",
    ],
    ["echo new > db/deep/1.sql; rm -rf db; mv db other; mkdir -p db/deep; echo new > db/deep/1.sql", "Write(db/**)"],
    ["mv db other; mkdir -p db/deep; echo new > db/deep/1.sql; echo new > other/deep/1.sql", "Write(db/deep/1.sql)"],
    ["mv db other; mkdir -p db/deep; echo new > db/deep/1.sql; echo new > other/deep/1.sql", "Write(*.sql)"],
    [
      "chmod 777 db/deep/1.sql; sed -i s/old/new/ db/deep/1.sql package-lock.json; truncate -s 0 db/deep/1.sql package-lock.json",
      "Write(**)",
    ],
  ])(verifies(["S-06", "S-30"], "%s changes nothing: %s"), async (command, rule) => {
    const files = { "package-lock.json": "old", "db/deep/1.sql": "old", "free.txt": "old" };
    const workspace = createFolder("workspace", files);
    await runDenied(command, workspace, rule);
    const [denial] = toFileRules(rule);
    for (const path of Object.keys(files).filter((name) => denial!.glob.isCovering(name)))
      expect(readFileSync(join(workspace, path), "utf8"), path).toBe("old");
    const { output } = await runDenied("cat package-lock.json db/deep/1.sql", workspace, rule);
    expect(output).toContain("oldold");
  });

  test(verifies("S-06", "what does not exist yet is moved away after the command"), async () => {
    const workspace = createFolder("workspace", { "a/x.txt": "x" });
    const { refusals } = await runDenied(
      "mkdir -p a/db; echo new > a/db/1.sql; echo ok > a/b.txt",
      workspace,
      "Write(*.sql)",
    );
    expect(existsSync(join(workspace, "a/db/1.sql"))).toBe(false);
    expect(existsSync(join(workspace, "a/b.txt"))).toBe(true);
    expect(refusals.join("\n")).toContain('The rule Write(*.sql) denies writing "a/db/1.sql": Sheaf moved it away');
  });

  test(verifies("S-06", "a file that must not be read stays hidden in a folder that must not be written"), async () => {
    const workspace = createFolder("workspace", { "src/.env": "CANARY", "src/a/key": "CANARY", "src/a/b.txt": "open" });
    const rules = ["Write(src/**)", "Read(.env)", "Read(src/a/key)"];
    const { output } = await runDenied(
      "cat src/.env src/a/key src/a/b.txt; echo new > src/a/b.txt",
      workspace,
      ...rules,
    );
    expect(output).toContain("open");
    expect(output).not.toContain("CANARY");
    expect(readFileSync(join(workspace, "src/a/b.txt"), "utf8")).toBe("open");
  });
});

describeWithSandbox("rules that cannot be held", () => {
  test(verifies("S-06", "let no command run, and the reason names them and what to do"), async () => {
    const names = Array.from({ length: 301 }, (_, index) => [`d/${index}.ts`, ""] as const);
    const workspace = createFolder("workspace", Object.fromEntries(names));
    const { startError, exitCode } = await runDenied("touch ran", workspace, "Write(*.ts)");
    expect(exitCode).toBe(-1);
    expect(startError).toMatch(
      /the rules Write\(\*\.ts\) cannot be enforced on commands \(more than 300 places are denied\).*narrower/,
    );
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    expect((await runDenied("touch ran", workspace, "Write(d/**)")).exitCode).toBe(0);
  });

  test(verifies("S-06", "so does a denied link to a folder around the workspace"), async () => {
    const workspace = createFolder("workspace");
    symlinkSync("/", join(workspace, ".env"));
    expect((await runDenied("true", workspace, "Read(.env)")).startError).toMatch(
      /\.env" leads to a folder that contains/,
    );
  });
});

describe("the index of denied places", () => {
  const list = (workspace: string, ...rules: readonly string[]): string[] =>
    createDeniedIndex([workspace], toFileRules(...rules))()
      .places.map(({ path, access }) => `${path.slice(workspace.length + 1)} ${access}`)
      .toSorted();

  test("names outer places only, and what is hidden within what is read-only", () => {
    const workspace = createFolder("index", { ...secrets, ".git/refs/heads/.env": "", ".git/config": "" });
    expect(list(workspace, "Read(.env)")).toEqual([
      ".env hidden",
      "node_modules/b/.env hidden",
      "packages/a/.env hidden",
    ]);
    expect(list(workspace, "Write(packages)", "Read(.env)")).toContain("packages/a/.env hidden");
    expect(list(workspace, "Write(config/**)", "Write(*.key)")).toEqual(["config read-only"]);
    expect(list(workspace, "Read(.git/config)")).toEqual([".git/config hidden"]);
    expect(list(workspace, "Read(nothing/at/all)")).toEqual([]);
  });

  test("follows changes, also in packages when their folder changed", () => {
    const workspace = createFolder("index", { "node_modules/b/x.js": "" });
    const index = createDeniedIndex([workspace], toFileRules("Read(.env)"));
    const count = (): number => index().places.length;
    expect(count()).toBe(0);
    writeFileSync(join(workspace, ".env"), "");
    expect(count()).toBe(1);
    mkdirSync(join(workspace, "node_modules/c"));
    writeFileSync(join(workspace, "node_modules/c/.env"), "");
    expect(count()).toBe(2);
    rmSync(join(workspace, "node_modules"), { recursive: true });
    expect(count()).toBe(1);
  });
});
