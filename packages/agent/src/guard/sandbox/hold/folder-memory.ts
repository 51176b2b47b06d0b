/**
 * What was found in folders, read again only in those that changed: in a workspace of 4,000 folders that saves 60 ms of
 * each command. The change time shows it, which a command cannot set, unlike the modification time.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";

export interface FolderMemory<Content> {
  /**
   * What `derive` returns for the folder's entries. Undefined: not a folder, or one that this user cannot read.
   * `isSettled`: a known result counts without another look.
   */
  read(path: string, derive: (entries: readonly Dirent[]) => Content, isSettled?: boolean): FolderState<Content>;
  /** Forgets the folders that were not read since the last call. */
  endLook(): void;
}

type FolderState<Content> = { readonly content: Content; readonly isKnown: boolean } | undefined;

interface FolderRecord<Content> {
  readonly identity: string;
  readonly changedAt: bigint;
  /** It changed so recently that a later change may carry the same time. */
  readonly isFresh: boolean;
  readonly content: Content;
}

/** Nanoseconds; file systems record time in steps of up to 10 ms. */
const freshPeriod = 50_000_000n;

export function createFolderMemory<Content>(): FolderMemory<Content> {
  let records = new Map<string, FolderRecord<Content>>();
  let seen = new Map<string, FolderRecord<Content>>();
  return {
    read(path, derive, isSettled = false) {
      const known = records.get(path);
      const record = known && isSettled ? known : readFolder(path, known, derive);
      if (!record) return undefined;
      seen.set(path, record);
      return { content: record.content, isKnown: record === known };
    },
    endLook() {
      records = seen;
      seen = new Map();
    },
  };
}

function readFolder<Content>(
  path: string,
  known: FolderRecord<Content> | undefined,
  derive: (entries: readonly Dirent[]) => Content,
): FolderRecord<Content> | undefined {
  const now = BigInt(Date.now()) * 1_000_000n;
  const stat = readStat(path);
  if (!stat?.isDirectory()) return undefined;
  const identity = toIdentity(stat);
  const changedAt = stat.ctimeNs;
  if (known && !known.isFresh && known.identity === identity && known.changedAt === changedAt) return known;
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    // Not readable for this user, so neither for the command.
    return undefined;
  }
  return { identity, changedAt, isFresh: now - changedAt < freshPeriod, content: derive(entries) };
}

/** Of the place itself, not of a link's target. */
export function readStat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Device and inode. */
export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
