import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { describeStartedFiles, findStarter } from "../../src/files/started-files.ts";

describe("a file that starts later", () => {
  test.each([
    [".pre-commit-config.yaml", "git starts it as a hook"],
    ["app/lefthook.yml", "git starts it as a hook"],
    [".husky/pre-commit", "git starts it as a hook"],
    [".GitHub/Workflows/ci.yml", "CI starts it"],
    [".gitlab-ci.yml", "CI starts it"],
    ["Jenkinsfile", "CI starts it"],
    [".claude/commands/x.md", "other agents obey it"],
    [".github/prompts/x.prompt.md", "other agents obey it"],
  ])(verifies("S-245", "has a reason: %s"), (path, reason) => {
    expect(findStarter(path)).toBe(reason);
  });

  test.each(["src/main.ts", "docs/workflows/ci.yml", ".github/CODEOWNERS", "lefthook", "my.claude", "AGENTS.md"])(
    verifies("S-245", "is not %s"),
    (path) => {
      expect(findStarter(path)).toBeUndefined();
    },
  );

  test(verifies("S-245", "is named in one sentence with the others"), () => {
    expect(describeStartedFiles(["src/a.ts"])).toBeUndefined();
    const paths = Array.from({ length: 7 }, (_, index) => `.github/workflows/${index}.yml`);
    const note = describeStartedFiles(["src/a.ts", ...paths]);
    expect(note).toContain(".github/workflows/0.yml (CI starts it), ");
    expect(note).toContain("4.yml (CI starts it) and 2 more. Name them to the user.");
  });
});
