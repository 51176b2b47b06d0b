import { describe, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { checkFlags, toCommandFormat } from "../../src/cli/command-flags.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("flags of commands", () => {
  test("those that are known pass, --verbose always", () => {
    expect(() => checkFlags(parseArguments(["status", "--format", "json", "--verbose"]), ["format"])).not.toThrow();
  });

  test.each([
    [["login", "--force"], [], "--force does not go with sheaf login: it takes none"],
    [["models", "--print"], ["format"], "--print does not go with sheaf models: it takes --format"],
  ] as const)(verifies("C20", "%j is a usage error"), (words, known, message) => {
    expect(() => checkFlags(parseArguments(words), known)).toThrow(expect.objectContaining({ code: "USAGE", message }));
  });

  test(verifies("C20", "--format is text or json"), () => {
    expect(toCommandFormat(parseArguments(["status"]))).toBe("text");
    expect(toCommandFormat(parseArguments(["status", "--format=json"]))).toBe("json");
    expect(() => toCommandFormat(parseArguments(["status", "--format="]))).toThrow('--format "" is unknown');
  });
});
