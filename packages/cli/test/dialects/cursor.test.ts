import { describe, expect, test } from "vitest";
import { parseArguments } from "../../src/arguments.ts";
import { checkCommandLine } from "../../src/command-flags.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { cursorDialect } from "../../src/dialects/cursor/cursor.ts";

const toNotice = (message: RegExp) => ({ code: "FLAG_IGNORED", message: expect.stringMatching(message) as string });

const take = (words: readonly string[], environment: Record<string, string> = {}) =>
  cursorDialect.readArguments(words, { environment, cwd: "/" });

describe("flags", () => {
  test.each([
    ["--auto-review", "--auto-review"],
    ["--browser --fullscreen -b --background", "--browser --fullscreen -b --background"],
    ["-c --cloud -c", "-c --cloud"],
    ["--worktree-base main --skip-worktree-setup", "--worktree-base --skip-worktree-setup"],
    ["--browser --plugin-dir=x", "--browser --plugin-dir"],
    ["-e https://example.org --endpoint https://example.org", "-e --endpoint"],
  ])(verifies("C45", "%s have no effect, and a notice each"), (line, flags) => {
    const words = line.split(" ");
    const { parsed, notices } = take(["-p", ...words, "do it"]);
    expect(parsed.positionals).toEqual(["do it"]);
    expect(notices.map(({ message }) => message.split(" is ignored: ")[0]).join(" ")).toBe(flags);
    expect(() => parseArguments(words)).toThrow(/unknown flag/);
  });

  test.each(["--worktree", "-w"])(
    verifies("C70", "a text after %s is the prompt, since no name has a blank"),
    (flag) => {
      expect(take(["-p", flag, "fix the tests"]).parsed.positionals).toEqual(["fix the tests"]);
      expect(take(["-p", flag, "name", "fix"]).parsed.positionals).toEqual(["fix"]);
    },
  );

  test(verifies("C45", "any other unknown flag is an error, and so is one after which its value is missing"), () => {
    for (const words of [["--auto-revew"], ["-x"], ["--endpoint"], ["-e", "--force"]]) {
      expect(() => take(words)).toThrow(expect.objectContaining({ code: "USAGE" }));
    }
    expect(take(["-p", "--", "--auto-review"])).toMatchObject({
      notices: [],
      parsed: { positionals: ["--auto-review"] },
    });
  });

  test.each(["models", "mcp list", "acp", "create-chat", "ls"])(
    verifies("C45", "flags of a prompt come with %s in this profile only"),
    (command) => {
      const parsed = parseArguments(["--resume=12345678-1234-4123-8123-123456789012", ...command.split(" ")]);
      expect(() => checkCommandLine(parsed, cursorDialect)).not.toThrow();
      expect(() => checkCommandLine(parsed)).toThrow(/--resume does not go with/);
    },
  );

  test(verifies("C45", "other commands check their flags as ever"), () => {
    for (const words of [
      ["login", "openai", "--api-key", "sk"],
      ["serve", "--resume=abcd"],
    ]) {
      expect(() => checkCommandLine(parseArguments(words), cursorDialect)).toThrow(/does not go with/);
    }
  });
});

describe("keys", () => {
  test.each([
    [["--api-key", "key_1"], {}],
    [["--api-key= key_1 "], {}],
    [["-a", "crsr_1"], {}],
    [["--api-key", "anything"], { CURSOR_API_KEY: "anything" }],
  ])(verifies("C47", "%j with %j are Cursor's"), (words, environment) => {
    const { parsed, notices } = take(["-p", ...words, "go"], environment);
    expect(parsed.flags["api-key"]).toBeUndefined();
    expect(notices).toEqual([toNotice(/^the key of --api-key is Cursor's and is sent to no one/)]);
    expect(notices[0]?.message).not.toMatch(/key_1|crsr_1|anything/);
  });

  test(verifies("C47", "a header with such a key is left out, another one stays"), () => {
    const words = ["-p", "-H", "Authorization: Bearer key_1", "-H", "X-Key:mine", "-H", "X-Team: keys", "go"];
    const { parsed, notices } = take(words, { CURSOR_API_KEY: "mine" });
    expect(parsed.flags.header).toEqual(["X-Team: keys"]);
    expect(notices).toEqual([toNotice(/^the key in --header is Cursor's/)]);
  });

  test(verifies("C47", "the variable is said not to be used; another key is used as ever"), () => {
    expect(take(["-p", "--api-key", "sk-1", "go"], { CURSOR_API_KEY: "key_1" })).toMatchObject({
      parsed: { flags: { "api-key": "sk-1" } },
      notices: [toNotice(/^CURSOR_API_KEY is Cursor's/)],
    });
    expect(take(["-p", "--api-key", "", "go"], { CURSOR_API_KEY: "" }).notices).toEqual([]);
    expect(take(["-p", "--api-key", "sk-1", "go"], { CURSOR_API_KEY: "1" }).parsed.flags["api-key"]).toBe("sk-1");
  });
});
