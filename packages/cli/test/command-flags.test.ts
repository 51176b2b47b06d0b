import { describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { checkCommandLine, toCommandFormat } from "../src/command-flags.ts";
import { verifies } from "../../../test/support/verifies.ts";

describe("flags of commands", () => {
  test.each([
    [["models", "--format", "json", "--verbose"]],
    [["--compat", "sheaf", "rm", "x"]],
    [["-p", "--verbose", "--model", "offline", "--no-save", "go"]],
  ])("%j pass", (words) => {
    expect(() => checkCommandLine(parseArguments(words))).not.toThrow();
  });

  test.each([
    [
      ["login", "--force"],
      "--force does not go with sheaf login: it belongs to a prompt, sheaf answer and others (see sheaf help login)",
    ],
    [["show", "--limit", "3"], "--limit does not go with sheaf show: it belongs to sheaf ls (see sheaf help show)"],
    [
      ["fork", "--overwrite"],
      "--overwrite does not go with sheaf fork: it belongs to sheaf revert and sheaf install-alias (see sheaf help fork)",
    ],
    [["-p", "--port", "1", "go"], "--port does not go with a prompt: it belongs to sheaf serve (see sheaf help flags)"],
    [["go", "--json"], "--json does not go with a prompt: use --output-format"],
    [["-p", "--format", "json", "go"], "--format does not go with a prompt: use --output-format"],
    [
      ["login", "openai", "--api-key", "sk"],
      "--api-key does not go with sheaf login: type the key at its prompt, or pipe it to stdin",
    ],
  ] as const)(verifies(["C20", "C32"], "%j is a usage error that names who takes the flag"), (words, message) => {
    expect(() => checkCommandLine(parseArguments(words))).toThrow(expect.objectContaining({ code: "USAGE", message }));
  });

  test(verifies("C20", "--format is text or json"), () => {
    expect(toCommandFormat(parseArguments(["models"]))).toBe("text");
    expect(toCommandFormat(parseArguments(["models", "--format=json"]))).toBe("json");
    expect(() => toCommandFormat(parseArguments(["models", "--format="]))).toThrow(
      '--format "" (an unset variable?) is unknown',
    );
  });
});
