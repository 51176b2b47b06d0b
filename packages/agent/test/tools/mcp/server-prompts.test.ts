import { expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { toPromptArguments } from "../../../src/tools/mcp/server-prompts.ts";

const command = "mcp__s__p";
const toPrompt = (...names: readonly string[]) => ({
  command,
  arguments: names.map((name) => ({ name: name.replace("?", ""), isRequired: !name.endsWith("?") })),
});

test(verifies("C111", "words are arguments by name and by place; the last takes what is left"), () => {
  const cases: readonly (readonly [readonly string[], string, object])[] = [
    [[], "", {}],
    [["a"], "one", { a: "one" }],
    [["a"], "one two  three", { a: "one two three" }],
    [["a"], '"one two"', { a: "one two" }],
    [["a"], 'say "one two" now', { a: 'say "one two" now' }],
    [["a", "b?"], "one", { a: "one" }],
    [["a", "b?"], "one two three", { a: "one", b: "two three" }],
    [["a", "b?"], "b=two one three", { a: "one three", b: "two" }],
    [["a", "b"], "b='x y' one", { a: "one", b: "x y" }],
    [["a"], "c=d", { a: "c=d" }],
  ];
  for (const [names, words, args] of cases) {
    expect(toPromptArguments(toPrompt(...names), words), words).toEqual(args);
  }
  expect(() => toPromptArguments(toPrompt("a"), "a=1 a=2")).toThrow(/takes no more than a: leave out a=2/);
  expect(() => toPromptArguments(toPrompt("a", "b", "c?"), "b=1")).toThrow(/needs a: write \/mcp__s__p a b \[c\]/);
});
