/** The files of a recording: lines of JSON, compressed. */
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

/** Appends values to a file; `end` must be awaited. */
export interface LineFile {
  write(value: unknown): Promise<void>;
  end(): Promise<void>;
}

/** Replaces the file, and makes its folder. */
export function createLineFile(file: string): LineFile {
  mkdirSync(dirname(file), { recursive: true });
  const gzip = createGzip({ level: 3 });
  const target = gzip.pipe(createWriteStream(file));
  return {
    async write(value) {
      if (!gzip.write(`${JSON.stringify(value)}\n`)) await once(gzip, "drain");
    },
    async end() {
      gzip.end();
      await finished(target);
    },
  };
}

/** The values of a file, in order. Strings may contain line separators of Unicode, at which `readline` would cut. */
export async function* readLineFile<Value>(file: string): AsyncGenerator<Value> {
  const input = createReadStream(file).pipe(createGunzip()).setEncoding("utf8");
  let rest = "";
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = chunk.split("\n");
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as Value;
  }
}

/** The file of everything that a part gave. Names of parts are made for people. */
export function toPartFile(folder: string, part: string): string {
  return `${folder}/outputs/${part.replaceAll(/[^\w-]+/g, "-")}.ndjson.gz`;
}
