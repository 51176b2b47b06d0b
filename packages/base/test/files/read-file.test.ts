import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, openSync, closeSync, symlinkSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { FileResult } from "../../src/files/file-error.ts";
import { hashFile, readLines, readWholeFile, type ReadLines } from "../../src/files/read-file.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts";

const all = { startLine: 1, maxLines: 1_000_000, maxBytes: 1_000_000 };
const signal = new AbortController().signal;

async function read({ root, path }: TemporaryWorkspace, name: string, range = all): Promise<FileResult<ReadLines>> {
  return readLines(root, path(name), range, signal);
}

describe("text", () => {
  test.each([
    ["", 1],
    ["a", 1],
    ["a\n", 2],
    ["a\nb\n", 3],
    ["a\r\nb\r\n", 3],
    ["\n\n", 3],
    ["ü€😀\nx", 2],
  ])(verifies("C9", "%j has %i lines, its empty tail counted"), async (text, totalLines) => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.txt", text);
    const hash = createHash("sha256").update(text).digest("hex");
    expect(await read(temporary, "a.txt")).toMatchObject({
      ok: true,
      value: { text, totalLines, totalChars: text.length, fileSize: Buffer.byteLength(text), hash },
    });
  });

  test("a byte order mark is left out", async () => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.txt", "\uFEFFa\nb");
    expect(await read(temporary, "a.txt")).toMatchObject({ ok: true, value: { text: "a\nb", totalChars: 3 } });
  });

  test.each(["utf16le", "utf16be"])("%s with a mark is decoded", async (encoding) => {
    const temporary = createTemporaryWorkspace();
    const bytes = Buffer.from("\uFEFFgrün\n😀", "utf16le");
    temporary.write("a.txt", encoding === "utf16le" ? bytes : bytes.swap16());
    expect(await read(temporary, "a.txt")).toMatchObject({ ok: true, value: { text: "grün\n😀", totalLines: 2 } });
  });

  test("bytes that are no UTF-8 become U+FFFD", async () => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.txt", Buffer.from([0x61, 0xff, 0x62]));
    expect(await read(temporary, "a.txt")).toMatchObject({ ok: true, value: { text: "a\uFFFDb" } });
  });

  test("a character on the border of two blocks stays whole", async () => {
    const temporary = createTemporaryWorkspace();
    const text = `${"x".repeat(64 * 1024 - 2)}😀y\n`.repeat(3);
    temporary.write("a.txt", text);
    expect(await read(temporary, "a.txt")).toMatchObject({ ok: true, value: { text, totalLines: 4 } });
  });
});

describe("what is no text, or no file", () => {
  test.each([
    ["a NUL", Buffer.from([0x61, 0, 0x62])],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ["a program", Buffer.from("\x7FELF\x02\x01\x01\0\0\0", "latin1")],
  ])("%s is binary", async (_, bytes) => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.bin", bytes);
    expect(await read(temporary, "a.bin")).toMatchObject({ ok: false, error: { code: "BINARY_FILE" } });
  });

  test(verifies("R-15", "a pipe, a socket, a device and a folder are refused at once"), async () => {
    const temporary = createTemporaryWorkspace();
    execFileSync("mkfifo", [join(temporary.root, "pipe")]);
    mkdirSync(join(temporary.root, "folder"));
    const server = createServer().listen(join(temporary.root, "socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const names = ["pipe", "socket", "folder"];
    try {
      execFileSync("mknod", [join(temporary.root, "device"), "c", "1", "5"], { stdio: "ignore" });
      names.push("device");
    } catch {
      // Without the right to make a device the other three stand for it.
    }
    const start = performance.now();
    for (const name of names) {
      const code = name === "folder" ? "IS_A_DIRECTORY" : "NOT_A_FILE";
      expect(await read(temporary, name), name).toMatchObject({ ok: false, error: { code } });
    }
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test(verifies("R-15", "a circle of links is refused"), () => {
    const { root, workspace } = createTemporaryWorkspace();
    symlinkSync("two", join(root, "one"));
    symlinkSync("one", join(root, "two"));
    expect(workspace.resolve("one/x")).toMatchObject({ ok: false, error: { code: "PATH_INVALID" } });
  });

  test("a file that is not there", async () => {
    expect(await read(createTemporaryWorkspace(), "none.txt")).toMatchObject({
      ok: false,
      error: { code: "FILE_NOT_FOUND" },
    });
  });

  test("a file above the limit is not read whole", async () => {
    const { root, path, write } = createTemporaryWorkspace();
    write("a.txt", "12345");
    expect(await readWholeFile(root, path("a.txt"), 4)).toMatchObject({ ok: false, error: { code: "FILE_TOO_LARGE" } });
  });
});

describe("large files", () => {
  test(verifies("R-15", "200 MB are counted through with bounded memory"), async () => {
    const temporary = createTemporaryWorkspace();
    const block = `${"0123456789".repeat(10)}ä\n`.repeat(10_000);
    const file = openSync(join(temporary.root, "large.txt"), "w");
    for (let count = 0; count < 200; count += 1) writeSync(file, block);
    closeSync(file);
    const before = process.memoryUsage.rss();
    let highest = before;
    const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 10);
    const result = await read(temporary, "large.txt", { startLine: 1_999_999, maxLines: 1, maxBytes: 1000 });
    clearInterval(timer);
    const line = `${"0123456789".repeat(10)}ä\n`;
    expect(result).toMatchObject({
      ok: true,
      value: {
        text: line,
        startLine: 1_999_999,
        endLine: 1_999_999,
        totalLines: 2_000_001,
        totalChars: 2_000_000 * 102,
      },
    });
    expect(highest - before).toBeLessThan(64 * 1024 * 1024);
  });

  test(verifies("R-15", "a sparse file of 200 MB is binary at once"), async () => {
    const temporary = createTemporaryWorkspace();
    execFileSync("truncate", ["-s", "200M", join(temporary.root, "sparse")]);
    expect(await read(temporary, "sparse")).toMatchObject({ ok: false, error: { code: "BINARY_FILE" } });
  });

  test("the hash of a large file is that of its bytes", async () => {
    const temporary = createTemporaryWorkspace();
    const bytes = Buffer.alloc(3_000_000, "abc");
    temporary.write("a.bin", bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    expect(await hashFile(temporary.root, temporary.path("a.bin"))).toMatchObject({
      ok: true,
      value: { hash, bytes: bytes.length },
    });
  });

  test("an abort ends the reading", async () => {
    const temporary = createTemporaryWorkspace();
    temporary.write("a.txt", "x\n".repeat(1_000_000));
    const result = await readLines(temporary.root, temporary.path("a.txt"), all, AbortSignal.abort());
    expect(result).toMatchObject({ ok: true, value: { totalChars: 0 } });
  });
});
