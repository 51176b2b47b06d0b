/** The contents of files before tools changed them, by their hash, so that a response can be undone. */
import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listSizes, makeRoom, sumSizes, toConversationFolder } from "./conversation-folders.ts";
import { getFaultCode } from "@sheaf/base/files/file-error";
import { toHash } from "@sheaf/base/files/read-file";
import { writeTemporaryFile } from "@sheaf/base/files/atomic-write";

/** Larger contents are not kept. Bytes. */
export const MAX_CHECKPOINT_BYTES = 16 * 1024 * 1024;

/** Smaller contents are not compressed: they take one block of the disk either way. Bytes. */
const MIN_COMPRESSED_BYTES = 4096;

/** What the contents of one conversation may take on the disk. Bytes. */
const MAX_CONVERSATION_BYTES = 256 * 1024 * 1024;

/** What those of all conversations may take before the oldest ones go. Bytes. */
const MAX_TOTAL_BYTES = 2 * 1024 * 1024 * 1024;

/** Loaded when the first content is kept: most runs keep none. */
function loadCompression() {
  const { promisify } = process.getBuiltinModule("node:util");
  const { zstdCompress, zstdDecompress } = process.getBuiltinModule("node:zlib");
  return { compress: promisify(zstdCompress), decompress: promisify(zstdDecompress) };
}

export interface Checkpoints {
  /** Keeps a content; when it resolves, it is on disk. Returns why it was not kept, or undefined. `hash`: SHA-256, hex. */
  keep(hash: string, content: Uint8Array): Promise<string | undefined>;
  /** The content of a hash; undefined if it is not kept, or damaged. */
  read(hash: string): Promise<Buffer | undefined>;
  /** Resolves when older conversations have made room for this one. Never rejects. */
  settle(): Promise<void>;
}

interface CheckpointLimits {
  readonly conversationBytes: number;
  readonly totalBytes: number;
}

/**
 * The checkpoints of a conversation, in `checkpoints` of the user's data folder: folders 0700, files 0600 (S-42), created
 * with the first content. A file is named by the hash of its content and compressed if that saves a block; the same
 * content is written once.
 */
export function createCheckpoints(
  dataFolder: string,
  conversationId: string,
  limits: CheckpointLimits = { conversationBytes: MAX_CONVERSATION_BYTES, totalBytes: MAX_TOTAL_BYTES },
): Checkpoints {
  const own = toConversationFolder(dataFolder, "checkpoints", conversationId);
  let kept: Map<string, number> | undefined;
  let room: Promise<void> | undefined;

  /** Sizes of the files by hash. With the first content, old conversations are removed to make room, in the background. */
  const open = (): Map<string, number> => {
    const isNew = mkdirSync(own, { recursive: true, mode: 0o700 }) !== undefined;
    const sizes = new Map(isNew ? [] : listSizes(own));
    // If that fails, this content is kept all the same.
    if (sizes.size === 0) room ??= makeRoom(own, limits.totalBytes).catch(() => undefined);
    return sizes;
  };

  return {
    async keep(hash, content) {
      if (content.length > MAX_CHECKPOINT_BYTES) return `it is larger than ${MAX_CHECKPOINT_BYTES} bytes`;
      try {
        kept ??= open();
        if (kept.has(hash)) return undefined;
        const packed = content.length < MIN_COMPRESSED_BYTES ? content : await loadCompression().compress(content);
        if (sumSizes(kept) + packed.length > limits.conversationBytes) {
          return `the checkpoints of this conversation take ${limits.conversationBytes} bytes already`;
        }
        await writeOnce(own, hash, packed);
        kept.set(hash, packed.length);
        return undefined;
      } catch (error) {
        return `it could not be written (${getFaultCode(error) || String(error)})`;
      }
    },
    async read(hash) {
      try {
        const packed = await readFile(join(own, hash));
        if (toHash(packed) === hash) return packed;
        const content = await loadCompression().decompress(packed, { maxOutputLength: MAX_CHECKPOINT_BYTES });
        return toHash(content) === hash ? content : undefined;
      } catch {
        return undefined;
      }
    },
    async settle() {
      await room;
    },
  };
}

async function writeOnce(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(folder, `.${randomUUID()}.tmp`);
  await writeTemporaryFile(temporary, bytes, 0o600);
  renameSync(temporary, join(folder, name));
}
