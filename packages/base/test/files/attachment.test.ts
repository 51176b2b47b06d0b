import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createGif, createJpeg, createPng, createWebp, pdf } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { formatAttachment, readAttachments, toAttachment } from "../../src/files/attachment.ts";

const folder = mkdtempSync(join(tmpdir(), "sheaf-attachment-"));
afterAll(() => rmSync(folder, { recursive: true }));

const problemOf = (bytes: Uint8Array, name = "a.png"): string => {
  const made = toAttachment(bytes, name);
  return made.ok ? "" : made.problem;
};

describe("attachments", () => {
  test.each([
    ["image/png", createPng(640, 480)],
    ["image/gif", createGif(640, 480)],
    ["image/jpeg", createJpeg(640, 480)],
    ["image/webp", createWebp("VP8 ", 640, 480)],
    ["image/webp", createWebp("VP8L", 640, 480)],
    ["image/webp", createWebp("VP8X", 640, 480)],
  ])(verifies(["N65", "S-102"], "%s is known by its bytes, with its size"), (mediaType, bytes) => {
    expect(toAttachment(bytes, "wrong.pdf")).toMatchObject({
      ok: true,
      value: { mediaType, width: 640, height: 480, bytes: bytes.length, data: bytes.toString("base64") },
    });
  });

  test(verifies("N65", "a PDF has no size; it is named by its bytes"), () => {
    const made = toAttachment(pdf, "/home/ada/a.png");
    expect(made).toMatchObject({ ok: true, value: { mediaType: "application/pdf", name: "a.png" } });
    if (made.ok) expect(formatAttachment(made.value)).toBe(`a.png (application/pdf, ${pdf.length} bytes)`);
  });

  test(verifies("N65", "what is too large is refused with the limit and a remedy"), () => {
    expect(problemOf(createPng(8001, 10))).toBe(
      "has 8001 x 10 px, at most 8000 px a side are allowed: make it smaller, or attach a part",
    );
    expect(problemOf(createPng(10, 10, 4_000_000))).toContain("at most 3932160 are allowed: make it smaller");
    expect(problemOf(Buffer.concat([pdf, Buffer.alloc(10_485_760)]))).toContain("attach only the pages that matter");
    expect(toAttachment(createPng(8000, 8000), "a").ok).toBe(true);
  });

  test(verifies("S-102", "what is no image, or has a damaged header, is refused"), () => {
    for (const text of ["<svg xmlns='http://www.w3.org/2000/svg'/>", "", "BM", "<html>", "RIFF0000WAVE", " %PDF-1.7"]) {
      expect(problemOf(Buffer.from(text))).toContain("is not a PNG");
    }
    for (const whole of [createPng(1, 1), createGif(1, 1), createJpeg(1, 1), createWebp("VP8X", 1, 1)]) {
      expect(problemOf(whole.subarray(0, 9))).not.toBe("");
    }
    expect(problemOf(createPng(0, 4))).toContain("gives no size");
  });

  test(verifies("S-102", "no bytes after a known beginning throw"), () => {
    const heads = [createPng(1, 1), createGif(1, 1), createJpeg(1, 1), createWebp("VP8L", 1, 1), pdf];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.nat(33), fc.uint8Array({ maxLength: 200 }), (head, length, rest) => {
        expect(typeof toAttachment(Buffer.concat([head.subarray(0, length), rest]), "a").ok).toBe("boolean");
      }),
    );
  });

  test(verifies("S-102", "a name has no folders, control characters or brackets, and stays as it is"), () => {
    const made = toAttachment(pdf, "../../x\\y/\u001b[31mred\u202e]\n.pdf");
    expect(made).toMatchObject({ ok: true, value: { name: "31mred.pdf" } });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (name) => {
        const once = toAttachment(pdf, name);
        if (once.ok) expect(toAttachment(pdf, once.value.name)).toEqual(once);
      }),
    );
  });

  test(verifies(["C42", "N126"], "files that cannot be attached are named in the error"), () => {
    const file = join(folder, "a.bin");
    writeFileSync(file, "a\0b");
    expect(() => readAttachments([file])).toThrow(`${file} is not a PNG, JPEG, GIF or WebP image and not a PDF`);
    writeFileSync(file, "text");
    expect(readAttachments([file])).toMatchObject([{ name: "a.bin", mediaType: "text/plain" }]);
    expect(() => readAttachments([join(folder, "none.png")])).toThrow("none.png does not exist");
    expect(() => readAttachments([folder])).toThrow("is not a file");
    const png = join(folder, "a.png");
    writeFileSync(png, createPng(10, 10));
    expect(() => readAttachments(Array.from({ length: 21 }, () => png))).toThrow("at most 20 are allowed");
    writeFileSync(png, createPng(10, 10, 3_900_000));
    expect(() => readAttachments([png, png, png])).toThrow("at most 10485760 are allowed in a message");
    expect(readAttachments([png, png])).toHaveLength(2);
  });
});
