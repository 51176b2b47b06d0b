import { describe, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { checkCommandLine, toCommandFormat } from "../../src/cli/command-flags.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("flags of commands", () => {
  test("those that are known pass, --verbose always", () => {
    expect(() => checkCommandLine(parseArguments(["status", "--format", "json", "--verbose"]))).not.toThrow();
  });

  test.each([
    [["login", "--force"], "--force does not go with sheaf login: it takes none"],
    [["status", "--plan"], "--plan does not go with sheaf status: it takes --format, --json, --model, --compat"],
  ] as const)(verifies("C20", "%j is a usage error"), (words, message) => {
    expect(() => checkCommandLine(parseArguments(words))).toThrow(expect.objectContaining({ code: "USAGE", message }));
  });

  test(verifies("C20", "--format is text or json"), () => {
    expect(toCommandFormat(parseArguments(["status"]))).toBe("text");
    expect(toCommandFormat(parseArguments(["status", "--format=json"]))).toBe("json");
    expect(() => toCommandFormat(parseArguments(["status", "--format="]))).toThrow('--format "" is unknown');
  });
});
