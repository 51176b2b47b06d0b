/** Exports as a hostile command writes them by hand, from objects that git itself would not make. */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

export interface HostileObject {
  readonly type: "commit" | "tree" | "blob" | "tag";
  readonly content: Buffer;
}

const types = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export function toId({ type, content }: HostileObject): string {
  return createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
}

export function createBlob(text = "evil\n"): HostileObject {
  return { type: "blob", content: Buffer.from(text) };
}

/** Entries in the given order: mode, name, id. */
export function createTree(
  entries: readonly (readonly [mode: string, name: string | Buffer, id: string])[],
): HostileObject {
  const parts = entries.flatMap(([mode, name, id]) => [
    Buffer.from(`${mode} `),
    Buffer.from(name),
    Buffer.from([0]),
    Buffer.from(id, "hex"),
  ]);
  return { type: "tree", content: Buffer.concat(parts) };
}

export function createCommit(tree: string, parents: readonly string[] = [], message = "evil\n"): HostileObject {
  const who = "A <a@localhost> 1700000000 +0000";
  const lines = [
    `tree ${tree}`,
    ...parents.map((id) => `parent ${id}`),
    `author ${who}`,
    `committer ${who}`,
    "",
    message,
  ];
  return { type: "commit", content: Buffer.from(lines.join("\n")) };
}

/** A pack of whole objects, with the number of objects and the checksum as they should be. */
export function createPack(objects: readonly HostileObject[], count = objects.length): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([
    header,
    ...objects.flatMap(({ type, content }) => [toSize(types[type], content.length), deflateSync(content)]),
  ]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

/** A pack with one object that claims to come from another one. */
export function createThinPack(base: string, delta: Buffer): Buffer {
  const body = Buffer.concat([
    Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1"),
    toSize(7, delta.length),
    Buffer.from(base, "hex"),
    deflateSync(delta),
  ]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function toSize(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let first = (type << 4) | (size & 15);
  let rest = Math.floor(size / 16);
  while (rest > 0) {
    bytes.push(first | 0x80);
    first = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, first]);
}

/** Files of an export; what is left out is as in a repository without anything. */
export interface HostileExport {
  readonly head?: string | Buffer;
  readonly refs?: string | Buffer;
  readonly stash?: string | Buffer;
  readonly index?: string | Buffer;
  readonly settings?: string | Buffer;
  readonly pack?: Buffer;
}

export function writeExport(folder: string, files: HostileExport): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const whole = {
    head: "refs/heads/main\n",
    refs: "",
    stash: "",
    index: "",
    settings: "",
    pack: createPack([]),
    ...files,
  };
  for (const [name, content] of Object.entries(whole)) writeFileSync(join(folder, name), content);
}
