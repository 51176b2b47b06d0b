/** Arguments as models write them: slips with one meaning are mended, everything else is refused with its place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { parseToolArguments } from "../src/model-streams/tool-call-writer.ts";
import { formatUnreadable, readJsonObject } from "../src/read-literal.ts";

const raw = String.raw;

describe("one meaning is mended", () => {
  test.each<readonly [string, string, unknown, readonly string[]]>([
    ["a comma before the end", '{"a":[1,2,],}', { a: [1, 2] }, ["a comma before the end"]],
    ["a code fence", '```json\n{"a":1}\n```', { a: 1 }, ["a code fence"]],
    ["a code fence without its end", '```\n{"a":1}', { a: 1 }, ["a code fence"]],
    ["a raw line end", '{"a":"x\n\ty"}', { a: "x\n\ty" }, ["a line end or a tab in a text"]],
    ["a backslash of a pattern", raw`{"a":"\d+\.\w"}`, { a: raw`\d+\.\w` }, ["a backslash in a text"]],
    ["a short code", raw`{"a":"C:\users"}`, { a: raw`C:\users` }, ["a backslash in a text"]],
    ["a line that continues", '{"a":"x \\\ny"}', { a: "x \\\ny" }, ["a backslash in a text"]],
    ["an escaped quote", raw`{"a":"print(\'x\')"}`, { a: "print('x')" }, ["a backslash in a text"]],
    ["single quotes", raw`{'a':'it\'s "x"'}`, { a: `it's "x"` }, ["the quotes '"]],
    ["triple quotes", '{"a":"""x\n"y" z"""}', { a: 'x\n"y" z' }, ['the quotes """']],
    ["names without quotes", "{a_b:1}", { a_b: 1 }, ["a name without quotes"]],
    ["words of Python", '{"a":[True,False,None]}', { a: [true, false, null] }, ["a word of Python"]],
    ["JSON in JSON", JSON.stringify('{"a":1,}'), { a: 1 }, ["JSON in a text of JSON", "a comma before the end"]],
    ["a comment after it", '{"a":1} // reads it', { a: 1 }, ["a comment"]],
    ["comments in it", '{/* x */"a":1, # y\n"b":2}', { a: 1, b: 2 }, ["a comment"]],
    ["a token of a template", '{"a":1}</tool_call><|im_end|>', { a: 1 }, ["signs after the end"]],
    ["a second bracket", '{"a":1}}', { a: 1 }, ["signs after the end"]],
  ])(verifies("N128", "%s"), (_, text, value, mended) => {
    expect(parseToolArguments(text)).toEqual({ arguments: value, mended });
  });
});

describe("other arguments are refused, with the place", () => {
  const again = "write them again, whole";
  test.each([
    ["the middle of a text", '{"command":"rm -rf build/x", "dir":"/tm', `end in the middle, at character 39: ${again}`],
    ["the middle of a list", '{"a":[1,2', `end in the middle, at character 9: ${again}`],
    ["the middle of a word", '{"a":tru', `end in the middle, at character 8: ${again}`],
    ["a comment without its end", '{"a":1 /* x', `end in the middle, at character 11: ${again}`],
    ["half an escape", '{"a":"\\', `end in the middle, at character 7: ${again}`],
    ["a text of JSON that is cut", '"{\\"a\\":', `end in the middle, at character 8: ${again}`],
    ["a cut text in a text", JSON.stringify('{"a":'), `end in the middle, at character 9: ${again}`],
    [
      "a quote in a text",
      '{"a":"say "hi" now","b":1}',
      `are not a JSON object: a comma or the end was expected at character 12, before "hi\\" now\\",\\"b\\":1}": ${again}`,
    ],
    [
      "a shell's quote",
      raw`{"a":"'it'\''s'"}`,
      raw`are not a JSON object: \' has two meanings at character 11, before`,
    ],
    ["two objects", '{"a":1}{"a":2}', "are not a JSON object: more follows the value at character 8, before"],
    ["fields after the end", '{"a":1},"b":2}', "are not a JSON object: more follows the value at character 8"],
    ["a word", "{a: hello, b: 1}", 'a value was expected at character 5, before "hello, b: 1}"'],
    ["a list", "[1]", "are not a JSON object: an object was expected at character 1"],
    ["a number of another kind", '{"a":007}', "a value was expected at character 6"],
  ])(verifies(["N128", "N30"], "%s"), (_, text, words) => {
    expect(parseToolArguments(text)).toEqual({ arguments: {}, rawArguments: text });
    expect(formatUnreadable("look", text)).toContain(words);
  });
});

const object = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
const written = fc
  .tuple(object, fc.constantFrom(undefined, 2))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));

test(verifies("N128", "JSON is read as it is, and its beginning never is an object"), () => {
  fc.assert(
    fc.property(written, fc.nat(), (text, place) => {
      expect(readJsonObject(text)).toEqual({ value: JSON.parse(text) as unknown, mended: [] });
      expect(readJsonObject(text.slice(0, place % text.length))).toMatchObject({ isCut: true });
    }),
  );
});

test(verifies("N128", "no part of arguments with slips is read as if it were whole"), () => {
  const text = raw`{a: 'x\d', "b": """y""", c: [True, {"d": "1"},], /* e */ "f": -1.5e3,}`;
  expect(readJsonObject(text)).toHaveProperty("value");
  for (let end = 0; end < text.length; end += 1)
    expect(readJsonObject(text.slice(0, end)), text.slice(0, end)).toMatchObject({ isCut: true });
});

test.each([
  ["deep", "[".repeat(200_000)],
  ["deep objects", '{"a":'.repeat(100_000)],
  ["deep texts", `{"a":${"'".repeat(200_001)}`],
  ["comments", `{${"/*".repeat(200_000)}`],
  ["lines of comments", `{${"#\n".repeat(200_000)}`],
  ["backslashes", `{"a":"${"\\".repeat(400_001)}`],
  ["line ends", `{"a":"${"\n".repeat(400_000)}`],
  ["commas", `{"a":[${",".repeat(200_000)}`],
  ["blanks", `{"a"${" ".repeat(400_000)}`],
  ["signs after the end", `{"a":1}${"<".repeat(200_000)}`],
  ["closing signs", `{"a":1}${"</".repeat(200_000)}x`],
])(verifies("N128", "%s of a hostile model are refused, and cost no more than their length"), (_, text) => {
  expect(readJsonObject(text)).not.toHaveProperty("value");
});

test(verifies("N128", "a field named __proto__ is a field"), () => {
  const read = readJsonObject("{'__proto__': {'a': 1}}");
  expect(Object.keys(read.value ?? {})).toEqual(["__proto__"]);
});
