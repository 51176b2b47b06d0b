/** Takes objects from a hostile place into a repository, through git's strict reader of packs. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { SheafError } from "../errors.ts";
import { askGit, type GitSetup, runGit, toReason } from "./run-git.ts";

/** Bytes. */
const maxPack = 1024 * 1024 * 1024;
/** Bytes; git holds a tree, a commit and most files in memory as a whole. */
const maxObject = "1g";

/** Smaller packs become single objects, as after a fetch. */
const looseObjects = 100;
const looseBytes = 16 * 1024 * 1024;

const IMPORT_MS = 300_000;

/**
 * Git refuses broken objects, wrong checksums, and trees that would write outside of their folder or into `.git`.
 * `checkConnected` has to follow. A failed import may leave objects without a ref, which git removes in time.
 * @throws SheafError INTERNAL
 */
export async function importPack(repository: GitSetup, packFile: string): Promise<void> {
  const purpose = "read the new objects";
  const { descriptor, size } = openPack(packFile);
  try {
    const count = readCount(descriptor);
    if (count === 0) return;
    const isLoose = count !== undefined && count < looseObjects && size < looseBytes;
    const words = isLoose
      ? ["unpack-objects", "--strict", "-q"]
      : ["index-pack", "--strict", "--fix-thin", "--stdin", `--max-input-size=${maxPack}`];
    await askGit(repository, words, { purpose, inputFile: descriptor, timeoutMs: IMPORT_MS, maxObject });
  } finally {
    closeSync(descriptor);
  }
}

/** Opens an ordinary file without following a link or waiting for a pipe. */
function openPack(packFile: string): { readonly descriptor: number; readonly size: number } {
  const descriptor = openSync(packFile, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size <= maxPack) return { descriptor, size: stats.size };
  closeSync(descriptor);
  const problem = stats.isFile() ? `have ${stats.size} bytes; at most ${maxPack} are possible` : "are not in a file";
  throw new SheafError("INTERNAL", `the new objects ${problem}`, { source: "sandbox" });
}

/** Undefined without a header: git's message about it is good enough. */
function readCount(descriptor: number): number | undefined {
  const header = Buffer.alloc(12);
  // At a position, so that git still reads the file from its start.
  return readSync(descriptor, header, 0, 12, 0) === 12 ? header.readUInt32BE(8) : undefined;
}

/** Follows commits and tags to all of their objects. @throws SheafError INTERNAL if an object is missing. */
export async function checkConnected(repository: GitSetup, ids: Iterable<string>, isPartial: boolean): Promise<void> {
  const input = [...new Set(ids)].join("\n");
  if (input === "") return;
  const lazy = isPartial ? ["--exclude-promisor-objects"] : [];
  const words = ["rev-list", "--objects", "--quiet", ...lazy, "--stdin", "--not", "--all"];
  const purpose = "find all that the new commits contain";
  await askGit(repository, words, { purpose, input: `${input}\n`, timeoutMs: IMPORT_MS });
}

/** The type of each object that exists, such as `blob`. */
export async function readObjectTypes(repository: GitSetup, ids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const { exitCode, stdout, ...outcome } = await runGit(
    repository,
    ["cat-file", "--batch-check=%(objectname) %(objecttype)"],
    { input: `${wanted.join("\n")}\n` },
  );
  if (exitCode !== 0) {
    throw new SheafError("INTERNAL", `git could not read the new objects: ${toReason({ exitCode, ...outcome })}`);
  }
  const lines = stdout.toString("latin1").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [id = "", type = ""] = line.split(" ");
      return type === "" || type === "missing" ? [] : [[id, type] as const];
    }),
  );
}
