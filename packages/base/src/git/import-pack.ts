/** Takes objects from a hostile place into a repository, through git's strict reader of packs. */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { SheafError } from "../errors.ts";
import { readCommonFolder } from "./git-state.ts";
import { askGit, type GitSetup } from "./run-git.ts";

/** Most bytes of a pack. */
const maxPack = 1024 * 1024 * 1024;
/** Most bytes of one object, since git loads whole trees, commits and most files into memory. */
const maxObject = "1g";

/** Limits below which a pack becomes single objects, as after a fetch. */
const looseObjects = 100;
const looseBytes = 16 * 1024 * 1024;

const IMPORT_MS = 300_000;

/**
 * Reads the pack into a separate folder next to the repository's objects. `work` gets a setup whose git finds both.
 * After it, the new objects join the others. If git or `work` refuses, all of them are deleted: an object that once
 * failed its check must not be there when a later object contains it. After a crash, git itself removes the folder.
 * @throws SheafError INTERNAL
 */
export async function importPack<Result>(
  repository: GitSetup,
  packFile: string | undefined,
  work: (repository: GitSetup) => Promise<Result>,
): Promise<Result> {
  const pack = packFile === undefined ? undefined : openPack(packFile);
  if (pack === undefined) return work(repository);
  const shared = join(readCommonFolder(repository.gitFolder), "objects");
  let own: string | undefined;
  try {
    const count = readCount(pack.descriptor);
    if (count === 0) return await work(repository);
    own = mkdtempSync(join(shared, "tmp_objdir-incoming-"));
    const isLoose = count !== undefined && count < looseObjects && pack.size < looseBytes;
    const words = isLoose
      ? ["unpack-objects", "--strict", "-q"]
      : ["index-pack", "--strict", "--fix-thin", "--stdin", `--max-input-size=${maxPack}`];
    const setup = { ...repository, newObjects: { own, shared } };
    const options = { inputFile: pack.descriptor, timeoutMs: IMPORT_MS, maxObject };
    await askGit(setup, words, { purpose: "read the new objects", ...options });
    const result = await work(setup);
    moveObjects(own, shared);
    return result;
  } finally {
    closeSync(pack.descriptor);
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
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

/** Returns the number of objects; undefined without a header, since git reports that clearly enough. */
function readCount(descriptor: number): number | undefined {
  const header = Buffer.alloc(12);
  // Reading at a position lets git still read the file from its start.
  return readSync(descriptor, header, 0, 12, 0) === 12 ? header.readUInt32BE(8) : undefined;
}

/** Moves the index of a pack last, since git uses the pack as soon as it finds the index. */
function moveObjects(own: string, shared: string): void {
  const folders = readdirSync(own).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name));
  for (const folder of folders) {
    mkdirSync(join(shared, folder), { recursive: true });
    const names = readdirSync(join(own, folder)).filter((name) => /^(?:[0-9a-f]+|pack-[0-9a-f]+\.\w+)$/.test(name));
    for (const name of names.toSorted((one, other) => Number(one.endsWith(".idx")) - Number(other.endsWith(".idx"))))
      renameSync(join(own, folder, name), join(shared, folder, name));
  }
}

/** Follows commits and tags to all their objects. @throws SheafError INTERNAL if an object is missing. */
export async function checkConnected(repository: GitSetup, ids: Iterable<string>, isPartial: boolean): Promise<void> {
  const input = [...new Set(ids)].join("\n");
  if (input === "") return;
  const lazy = isPartial ? ["--exclude-promisor-objects"] : [];
  const words = ["rev-list", "--objects", "--quiet", ...lazy, "--stdin", "--not", "--all"];
  const purpose = "find all that the new commits contain";
  await askGit(repository, words, { purpose, input: `${input}\n`, timeoutMs: IMPORT_MS });
}

/** Returns the type of each existing object, such as `blob`. @throws SheafError INTERNAL */
export async function readObjectTypes(repository: GitSetup, ids: Iterable<string>): Promise<Map<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const words = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
  const output = await askGit(repository, words, { purpose: "read the new objects", input: `${wanted.join("\n")}\n` });
  const lines = output.toString("latin1").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [id = "", type = ""] = line.split(" ");
      return type === "" || type === "missing" ? [] : [[id, type] as const];
    }),
  );
}
