import { expect, test } from "vitest";
import { parseFrontMatter } from "../../src/config/front-matter.ts";

function read(head: string): Record<string, string> {
  return Object.fromEntries(parseFrontMatter(`---\n${head}\n---\nbody`)!.fields);
}

test("fields as people write them, YAML or not", () => {
  expect(read("a: b: c\nargument-hint: [x] [y]\nglobs:*.ts, *.tsx\nempty:\n# note: none")).toEqual({
    a: "b: c",
    "argument-hint": "[x] [y]",
    globs: "*.ts, *.tsx",
    empty: "",
  });
  expect(read("a: \"say \\\"it\\\"\"\nb: 'it''s'")).toEqual({ a: 'say "it"', b: "it's" });
});

test("texts and lists of several lines", () => {
  expect(read("a: >-\n  one\n\n  two\nb: |\n  - three\n  four\nc: five\n  six")).toEqual({
    a: "one two",
    b: "- three four",
    c: "five six",
  });
  expect(read("tools:\n  - Read\n  - 'Bash(git:*)'\nmetadata:\n  author: me")).toEqual({
    tools: "Read, Bash(git:*)",
    metadata: "author: me",
  });
});

test("a head is at the very start, and ends", () => {
  expect(parseFrontMatter("text\n---\na: b\n---\n")).toBeUndefined();
  expect(parseFrontMatter("---\na: b\n")).toBeUndefined();
  expect(parseFrontMatter("---\r\na: b\r\n---\r\nbody")).toMatchObject({ body: "body" });
});
