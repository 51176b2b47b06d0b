import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { cursorFlags } from "../src/dialects/cursor/arguments.ts";
import { parseArguments } from "../src/arguments.ts";
import { toServerEnvironment, toServerLimits } from "../src/commands/mcp.ts";

test(
  verifies("C114", "variables come from the line or from the environment, and no value of a wrong one is shown"),
  () => {
    const environment = { TOKEN: "CANARY-0123" };
    expect(toServerEnvironment(["A=1", "B=x=y", "C=", "TOKEN"], environment)).toEqual({
      A: "1",
      B: "x=y",
      C: "",
      TOKEN: "CANARY-0123",
    });
    expect(() => toServerEnvironment(["OTHER"], environment)).toThrow(/no such variable; write OTHER=VALUE/);
    expect(() => toServerEnvironment(["sk-secret=1"], environment)).toThrow(
      /^--env needs the form NAME=VALUE, or NAME alone$/,
    );
  },
);

test(verifies("C114", "times are seconds"), () => {
  expect(toServerLimits({ timeout: "90", "start-timeout": "0.5" })).toEqual({
    timeoutSeconds: 90,
    startTimeoutSeconds: 0.5,
  });
  expect(toServerLimits({})).toEqual({});
  for (const text of ["0", "-1", "1m", "86401", ""]) {
    expect(() => toServerLimits({ timeout: text }), text).toThrow(/--timeout ".*" is not a time/);
  }
});

test(verifies(["C114", "C45"], "-e is a variable after mcp, and an address of cursor-agent before a prompt"), () => {
  const words = ["mcp", "add", "a", "-e", "A=1", "-e", "B", "--", "npx", "-e", "x"];
  expect(parseArguments(words)).toMatchObject({
    command: "mcp",
    flags: { env: ["A=1", "B"] },
    positionals: ["add", "a", "npx", "-e", "x"],
  });
  expect(parseArguments(["-e", "https://example.org", "-p", "go"], cursorFlags)).toMatchObject({
    foreign: ["-e"],
    positionals: ["go"],
  });
});
