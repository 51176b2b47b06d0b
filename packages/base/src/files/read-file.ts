/** Reads files of any kind with bounded memory. */
import { createHash, hash } from "node:crypto";
import { closeSync, read } from "node:fs";
import { createFileFault, type FileResult, runFileWork } from "./file-error.ts";
import { detectMediaType } from "./image-header.ts";
import { type LineRange, type LineSelection, LineWindow } from "./line-window.ts";
import { openFile, type OpenFile } from "./open-file.ts";
import { countLineEnds, decodeText, detectTextFormat, FORMAT_HEAD_BYTES } from "./text-format.ts";
import type { Workspace, WorkspacePath } from "./workspace.ts";

/** Most bytes to read: the lines of a larger file are not counted to the end. */
const MAX_READ_BYTES = 4 * 1024 ** 3;

/** Bytes of a block: small enough that decoded blocks are collected soon. */
const BLOCK_BYTES = 64 * 1024;

/** Bytes to assume for a file that reports a size of 0 but is not empty, as in `/proc`. */
const UNKNOWN_SIZE_BYTES = 1024 * 1024;

export interface WholeFile extends Pick<OpenFile, "identity" | "links"> {
  readonly bytes: Buffer;
  /** SHA-256, hex. */
  readonly hash: string;
}

export interface ReadLines extends LineSelection {
  /** Bytes of the whole file. */
  readonly fileSize: number;
  /** SHA-256 of the whole file, hex. */
  readonly hash: string;
}

export interface HashedFile extends Pick<OpenFile, "identity" | "mode"> {
  /** SHA-256, hex; undefined for a file that is too large. */
  readonly hash: string | undefined;
  /** The id of the content as an object of git; undefined if it is not wanted. */
  readonly gitId?: string | undefined;
  readonly bytes: number;
}

/** Returns the id that git gives to a content, by SHA-1. */
export function toGitId(content: Uint8Array): string {
  return startGitId(content.length).update(content).digest("hex");
}

function startGitId(size: number) {
  return createHash("sha1").update(`blob ${size}\0`);
}

/** Returns the SHA-256, in hex. */
export function toHash(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** Reads a file of at most `maxBytes`, even a binary one. Errors: FILE_NOT_FOUND, FILE_TOO_LARGE and others. */
export async function readWholeFile(
  root: string,
  path: WorkspacePath,
  maxBytes: number,
): Promise<FileResult<WholeFile>> {
  return runOnFile(root, path, maxBytes, async (file) => {
    const blocks: Buffer[] = [];
    await readBlocks(file, (block) => void blocks.push(Buffer.from(block)));
    const bytes = Buffer.concat(blocks);
    return { bytes, hash: toHash(bytes), identity: file.identity, links: file.links };
  });
}

/**
 * Returns the size of any file, and its SHA-256 unless it is larger than `maxBytes`, reading block by block. Errors:
 * FILE_NOT_FOUND, IS_A_DIRECTORY, NOT_A_FILE and others.
 */
export async function hashFile(
  root: string,
  path: WorkspacePath,
  {
    maxBytes = MAX_READ_BYTES,
    hasGitId = false,
  }: { readonly maxBytes?: number | undefined; readonly hasGitId?: boolean } = {},
): Promise<FileResult<HashedFile>> {
  return runOnFile(root, path, Infinity, async (file) => {
    const { size, identity, mode } = file;
    if (size > maxBytes) return { hash: undefined, bytes: size, identity, mode };
    const digest = createHash("sha256");
    const gitDigest = hasGitId ? startGitId(size) : undefined;
    await readBlocks(file, (block) => {
      digest.update(block);
      gitDigest?.update(block);
    });
    return { hash: digest.digest("hex"), gitId: gitDigest?.digest("hex"), bytes: size, identity, mode };
  });
}

/**
 * Reads some lines of a text file and counts the rest. Invalid UTF-8 becomes U+FFFD; a byte order mark disappears.
 * After an abort, reading ends early, and the result must not be used. Errors: FILE_NOT_FOUND, IS_A_DIRECTORY,
 * NOT_A_FILE, BINARY_FILE, FILE_TOO_LARGE and others.
 */
export async function readLines(
  root: string,
  path: WorkspacePath,
  range: LineRange,
  signal: AbortSignal,
): Promise<FileResult<ReadLines>> {
  return runOnFile(root, path, MAX_READ_BYTES, async (file) => {
    const lines = new LineWindow(range);
    const digest = createHash("sha256");
    let decoder: InstanceType<typeof TextDecoder> | undefined;
    await readBlocks(
      file,
      (block) => {
        decoder ??= createDecoder(block);
        digest.update(block);
        lines.push(decoder.decode(block, { stream: true }));
      },
      signal,
    );
    lines.push(decoder?.decode() ?? "");
    return { ...lines.end(), fileSize: file.size, hash: digest.digest("hex") };
  });
}

function createDecoder(head: Buffer): InstanceType<typeof TextDecoder> {
  const format = detectTextFormat(head.subarray(0, FORMAT_HEAD_BYTES));
  // A PDF may look like text.
  if (!format || detectMediaType(head) === "application/pdf") throw createFileFault("BINARY_FILE");
  return new TextDecoder(format.encoding);
}

async function runOnFile<Value>(
  root: string,
  path: WorkspacePath,
  maxBytes: number,
  work: (file: OpenFile) => Promise<Value>,
): Promise<FileResult<Value>> {
  return runFileWork(path.named, async () => {
    const file = await openFile(root, path);
    try {
      if (file.size > maxBytes) throw createFileFault("FILE_TOO_LARGE");
      return await work(file);
    } finally {
      closeSync(file.descriptor);
    }
  });
}

/** Reads block by block into one buffer, up to the size at the start, so that a growing file has an end. */
async function readBlocks(
  { descriptor, size }: OpenFile,
  take: (block: Buffer) => void,
  signal?: AbortSignal,
): Promise<void> {
  const limit = size > 0 ? size : UNKNOWN_SIZE_BYTES;
  const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, limit));
  const readAside = process.getBuiltinModule("node:util").promisify(read);
  for (let position = 0; position < limit;) {
    const length = Math.min(buffer.length, limit - position);
    // Blocks are read one after the other, into the one buffer, and without a position, which files of /proc lack.
    const { bytesRead } = await readAside(descriptor, buffer, 0, length, null);
    if (bytesRead === 0 || signal?.aborted) return;
    position += bytesRead;
    take(buffer.subarray(0, bytesRead));
  }
}

/** Most bytes of a quote that is checked. */
const MAX_BYTES = 256 * 1024;

export interface QuotedLines {
  readonly filePath: string;
  /** 1-based, included. */
  readonly startLine: number;
  readonly endLine: number;
  /** The lines without the last line end. */
  readonly content: string;
}

/** True if lines of a file match a quote (N22). False for a path outside the workspace or an unreadable file. */
export async function isQuotedExactly(workspace: Workspace, quote: QuotedLines, signal: AbortSignal): Promise<boolean> {
  const resolved = workspace.resolve(quote.filePath);
  if (!resolved.ok) return false;
  const { startLine, endLine, content } = quote;
  const range = { startLine, maxLines: endLine - startLine + 1, maxBytes: MAX_BYTES };
  const lines = await readLines(workspace.root, resolved.path, range, signal);
  if (!lines.ok || lines.value.endLine !== endLine) return false;
  return toPlainLineEnds(lines.value.text) === toPlainLineEnds(content);
}

/** Most bytes of a file that is searched for a quote. */
const MAX_SEARCHED_BYTES = 4 * 1024 * 1024;

/** Finds a quote in a file. Undefined unless it is there exactly once and has a letter or digit (N61). */
export async function findQuotedText(
  workspace: Workspace,
  { filePath, content }: Pick<QuotedLines, "filePath" | "content">,
): Promise<{ readonly startLine: number; readonly endLine: number } | undefined> {
  const resolved = workspace.resolve(filePath);
  const wanted = toPlainLineEnds(content);
  if (!resolved.ok || !/[\p{L}\p{N}]/u.test(wanted)) return undefined;
  const file = await readWholeFile(workspace.root, resolved.path, MAX_SEARCHED_BYTES);
  const format = file.ok ? detectTextFormat(file.value.bytes) : undefined;
  const text = file.ok && format && decodeText(file.value.bytes, format);
  if (!text) return undefined;
  const lines = `\n${toPlainLineEnds(text)}\n`;
  const place = lines.indexOf(`\n${wanted}\n`);
  if (place === -1 || lines.includes(`\n${wanted}\n`, place + 1)) return undefined;
  const startLine = countLineEnds(lines.slice(0, place + 1));
  return { startLine, endLine: startLine + countLineEnds(wanted) };
}

/** Unifies line ends and drops the last one, since neither is part of a quote. */
function toPlainLineEnds(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/\n$/, "");
}
