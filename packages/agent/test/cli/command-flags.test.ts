import { describe, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { checkCommandLine, toCommandFormat } from "../../src/cli/command-flags.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("flags of commands", () => {
  test("those that are known pass, --verbose always", () => {
    expect(() => checkCommandLine(parseArguments(["models", "--format", "json", "--verbose"]))).not.toThrow();
  });

  test.each([
    [["login", "--force"], "--force does not go with sheaf login: it takes none"],
    [["ls", "--plan"], "--plan does not go with sheaf ls: it takes --all, --format, --json, --limit, --workspace"],
  ] as const)(verifies("C20", "%j is a usage error"), (words, message) => {
    expect(() => checkCommandLine(parseArguments(words))).toThrow(expect.objectContaining({ code: "USAGE", message }));
  });

  test(verifies("C20", "--format is text or json"), () => {
    expect(toCommandFormat(parseArguments(["models"]))).toBe("text");
    expect(toCommandFormat(parseArguments(["models", "--format=json"]))).toBe("json");
    expect(() => toCommandFormat(parseArguments(["models", "--format="]))).toThrow('--format "" is unknown');
  });
});
