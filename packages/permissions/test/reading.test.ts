/** Commands as they are read, and the same commands in a real bash (S-11, S-12). */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCommand } from "../src/read-command.ts";
import { readInRealBash } from "./real-bash.ts";
import { describeWithBubblewrap } from "../../../test/support/bubblewrap.ts";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";

/** The words of each part; undefined: not known. */
function read(command: string): string[][] | undefined {
  const result = readCommand(command);
  return result.ok && result.reading.obstacle === undefined
    ? result.reading.commands.map((words) => words.map(({ text }) => text))
    : undefined;
}

describe("reading", () => {
  test.each([
    ["ls -la | grep x && git status; echo a\n# c\nls", [["ls", "-la"], ["grep", "x"], ["git", "status"], ["echo", "a"], ["ls"]]],
    ["( ls; cat a ) && { pwd; }", [["ls"], ["cat", "a"], ["pwd"]]],
    ["! ls a\\ b\"c d\"'e'", [["ls", "a bc de"]]],
    ["ls 2>&1 >/dev/null </dev/null &>/dev/null", [["ls"]]],
    [">/dev/null ls\npwd 2>/dev/null\nls", [["ls"], ["pwd"], ["ls"]]],
    ["ls \\\n  -l", [["ls", "-l"]]],
    ["echo 'a\nb' \"c\nd\"", [["echo", "a\nb", "c\nd"]]],
    ["echo \"a\\\"b\\$c\\`d\\\\e\\f\" 'g\\h'", [["echo", 'a"b$c`d\\e\\f', "g\\h"]]],
    ["echo a#b ''#c \\#d", [["echo", "a#b", "#c", "#d"]]],
    // comments end at the line, whatever quotes are in them
    ["ls \\\n#' \nmark #'", [["ls"], ["mark"]]],
    ["ls 2>&1 #'\nmark #'", [["ls"], ["mark"]]],
    ["ls && #'\nmark #'", [["ls"], ["mark"]]],
    ["#' \nmark #'", [["mark"]]],
    ["ls '#' \"#\" # '\nmark", [["ls", "#", "#"], ["mark"]]],
    ["ls;\\\nmark;# x", [["ls"], ["mark"]]],
    ["git show stash@{0} {} a{b", [["git", "show", "stash@{0}", "{}", "a{b"]]],
  ])(verifies("S-12", "%j is known"), (command, words) => {
    expect(read(command)).toEqual(words);
  }); // prettier-ignore

  test.each([
    "", " ", "\n", "# only a comment", "ls\\\nx", "ls &", "((ls))", "{ls;}", "!ls", "ls)", "(ls", "ls\n&& pwd", "ls;;", "; ls", "ls | ", "&& ls",
    "ls 'a", 'ls "a', "ls \\", "ls $'a'", 'ls $"a"', "ls {a,b}", "ls ~", "a=b", "a=b ls", "'a=b' ls", "''", "if", "then ls", "time; coproc ls", "ls 3>&1", "ls >x", "ls 2 >&3",
    "ls <x", "ls <<x\nx", "ls <<<x", "ls <(x)", "[ a ]", "[[ a ]]", "ls ?", "ls -?", "ls *a", "ls () { x; }", "ls\u00a0x", "ls \u200b", "ls \u001b", "ls \ud800", "ls \r",
  ])(verifies("S-11", "%j is not known"), (command) => {
    expect(read(command)).toBeUndefined();
  }); // prettier-ignore

  test.each([
    ["cd a", true], ["cd a && b | c |& d", true], ["cd a && b || c", false], ["cd a; b", false], ["cd a\nb", false], ["! cd a && b", false], ["(cd a) && b", false],
    ["cd a | b", false], ["cd a && (b; c)", false], ["cd a && # x\nb", true], ["cd a && b\n", true], ["cd a || b && c", false], ["{ cd a && b; }", false],
  ])("in %j all that follows needs the first command's success: %s", (command, isChain) => {
    const result = readCommand(command);
    expect(result.ok && result.reading.isChain).toBe(isChain);
  }); // prettier-ignore
});

test(verifies("S-86", "a command reads the same whenever garbage is collected"), async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const commands = [
    "npm test 2>&1 | tail -20 && git status -s; (ls a 'b c')",
    "ls $(pwd)",
    "{ ls; }",
    "((",
    "a=(".repeat(9),
  ];
  const first = commands.map((command) => readCommand(command));
  const rounds = chooseRuns(3000);
  for (let index = 0; index < rounds; index += 1) {
    const at = index % commands.length;
    expect(readCommand(commands[at]!), `command ${index}`).toEqual(first[at]);
    if (index % 50 > 0) continue;
    collect();
    // Finalizers run between tasks.
    await new Promise((resolve) => setImmediate(resolve));
  }
});

const total = Number(process.env.SHEAF_FUZZ_COMMANDS ?? chooseRuns(1500));

/** Words of signs that the shell reads, in any quotes, with anything between them. */
const signs = [
  ..."ab-.~:=#*?[]{}!^,@%+'\"\\$`<>|&;() \t\n".split(""),
  "\\\n",
  " \\\n",
  "é",
  "'x'",
  '"x"',
  "\\ ",
  " #",
  "a ",
  " b",
];
const arbitraryWords = fc
  .array(fc.constantFrom(...signs), { maxLength: 12 })
  .map((pieces) => `args ${pieces.join("")}`);

describeWithBubblewrap("what is read", () => {
  test(verifies("S-12", "is what bash gives to the program, to the byte"), { timeout: 60_000 + total * 40 }, () => {
    const { seed = Date.now() } = fc.readConfigureGlobal();
    const known = fc
      .sample(arbitraryWords, { numRuns: total * 2, seed })
      .map((command) => ({ command, words: read(command) }))
      .filter(({ words }) => words?.length === 1 && words[0]![0] === "args")
      .slice(0, total / 6);
    expect(known.length).toBeGreaterThan(total / 10);
    const given = readInRealBash(known.map(({ command }) => command));
    const wrong = known.filter(
      ({ words }, index) => JSON.stringify(given[index]) !== JSON.stringify(words![0]!.slice(1)),
    );
    expect(wrong, `seed ${seed}`).toEqual([]);
  });
});
