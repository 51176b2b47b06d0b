import { expect, test } from "vitest";
import { parseReadOutput } from "../../../src/model/offline/tool-results.ts";

const note = "[Lines 3-4 of 9.]";

test.each([
  ["whole", "3\ta\n4\tb\n", "a\nb\n", ""],
  ["without a line end", "3\ta\n4\tb", "a\nb", ""],
  ["with a note after it", `3\ta\n4\tb\n\n${note}`, "a\nb\n", note],
  ["with a note before and after it", `${note}\n3\ta\n4\tb\n[...]\n${note}`, "a\nb", note],
  ["with a note alone", note, "", note],
  ["that is empty", "The file is empty.", "", ""],
])("a file %s", (_, output, text, left) => {
  const outcome = { toolName: "read_file", args: { target_file: "a.txt", offset: 3 }, output, isError: false };
  expect(parseReadOutput(outcome)).toEqual({ path: "a.txt", startLine: 3, text, note: left });
});
