import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { formatNotebook } from "../../src/tools/format-notebook.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { createFileToolContext } from "./file-tool-context.ts";

const image = "iVBORw0KGgo".repeat(100_000);
const notebook = JSON.stringify({
  nbformat: 4,
  cells: [
    { cell_type: "markdown", source: ["# Title\n", "Text"] },
    {
      cell_type: "code",
      source: "import os\nprint(1)",
      outputs: [
        { output_type: "stream", name: "stdout", text: ["1\n", "2\n"] },
        { output_type: "display_data", data: { "image/png": image, "text/plain": ["<Figure>"] } },
        { output_type: "error", ename: "ValueError", evalue: "no", traceback: ["x"] },
      ],
    },
    { cell_type: "code", source: [], outputs: [] },
  ],
});

describe(verifies("C34", "a notebook"), () => {
  test("is read as its cells and their texts", async () => {
    const { context, write } = createFileToolContext();
    write("a.ipynb", notebook);
    const outcome = await readFileTool.run({ target_file: "a.ipynb" }, context);
    expect(outcome.output).toBe(
      "# %% [markdown] cell 1\n# Title\nText\n\n# %% [code] cell 2\nimport os\nprint(1)\n# output\n1\n2\n# output (not shown: image/png)\n<Figure>\n# error\nValueError: no\n\n# %% [code] cell 3\n",
    );
    expect(outcome).toMatchObject({
      effect: { kind: "read", startLine: 1, totalLines: 17, fileSize: notebook.length },
    });
    expect(outcome.note).toContain("JSON");
    const part = await readFileTool.run({ target_file: "a.ipynb", offset: 5, limit: 2 }, context);
    expect(part).toMatchObject({ output: "# %% [code] cell 2\nimport os\n", effect: { startLine: 5, endLine: 6 } });
  });

  test("that is none is read as text", async () => {
    const { context, write } = createFileToolContext();
    for (const text of ['{"cells": 1}\n', "[]", "{", "null"]) {
      write("b.ipynb", text);
      expect(await readFileTool.run({ target_file: "b.ipynb" }, context)).toMatchObject({ output: text });
    }
  });

  test("with values of other types, and long outputs, is bounded", () => {
    const cells = [1, null, { cell_type: 5, source: 7, outputs: [null, { text: ["x".repeat(5000), 3], data: [] }] }];
    const text = formatNotebook(JSON.stringify({ cells }))!;
    expect(text).toContain("3000 more characters");
    expect(text.length).toBeLessThan(2300);
  });
});
