import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createPng, createWebp, pdf } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { createFileToolContext } from "./file-tool-context.ts";

describe("read_file", () => {
  test(verifies(["N68", "C9"], "attaches an image, whatever its name; its text names kind and size"), async () => {
    const { context, write } = createFileToolContext();
    const png = createPng(640, 480);
    const path = write("shots/a.txt", "");
    writeFileSync(path, png);
    const outcome = await readFileTool.run({ target_file: "shots/a.txt", offset: 5 }, context);
    const output = "a.txt (image/png, 640 x 480 px, 33 bytes)";
    expect(outcome).toMatchObject({
      status: "success",
      output,
      shown: output,
      attachments: [{ name: "a.txt", mediaType: "image/png", data: png.toString("base64") }],
      effect: { kind: "read", path, isEmpty: false, fileSize: 33, totalLines: 1 },
    });
    expect(context.state.fileHashes.has(path)).toBe(true);
  });

  test(verifies("N68", "attaches a PDF, even one without a NUL"), async () => {
    const { context, write } = createFileToolContext();
    write("a.pdf", pdf.toString());
    const outcome = await readFileTool.run({ target_file: "a.pdf" }, context);
    expect(outcome).toMatchObject({ status: "success", attachments: [{ mediaType: "application/pdf" }] });
  });

  test(verifies("N65", "refuses an image that is too large, and what is neither text nor image"), async () => {
    const { context, write } = createFileToolContext();
    const refuse = async (name: string, bytes: Buffer): Promise<unknown> => {
      writeFileSync(write(name, ""), bytes);
      const { error, attachments } = await readFileTool.run({ target_file: name }, context);
      expect(attachments).toBeUndefined();
      return error;
    };
    expect(await refuse("a.webp", createWebp("VP8X", 9000, 10))).toMatchObject({
      code: "BINARY_FILE",
      message: expect.stringContaining("a.webp has 9000 x 10 px, at most 8000 px a side are allowed"),
    });
    expect(await refuse("a.png", createPng(1, 1, 11_000_000))).toMatchObject({
      message: expect.stringContaining("(an image or a PDF may have at most 10485760 bytes)"),
    });
    expect(await refuse("a.bin", Buffer.alloc(100))).toMatchObject({
      code: "BINARY_FILE",
      message: "a.bin is a binary file: use run_terminal_cmd with a program that knows it",
    });
  });
});
