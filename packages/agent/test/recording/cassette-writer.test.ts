import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCassetteWriter } from "../../src/recording/cassette-writer.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const folder = createTemporaryFolder(undefined, afterAll);

test(verifies("S-42", "the file is for its owner alone, also one that was there before"), () => {
  const file = join(folder, "old.ndjson");
  writeFileSync(file, '{"cassette":1}\nold\n');
  chmodSync(file, 0o644);
  const writer = createCassetteWriter(file);
  writer.write({ type: "clock", time: 1 });
  expect(readFileSync(file, "utf8")).toBe("");
  writer.flush();
  expect(readFileSync(file, "utf8")).toBe('{"type":"clock","time":1}\n');
  writer.write({ type: "model_end" });
  writer.close();
  writer.close();
  expect(readFileSync(file, "utf8")).toBe('{"type":"clock","time":1}\n{"type":"model_end"}\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("two recordings into one file do not spoil each other: the later one has the name", () => {
  const file = join(folder, "both.ndjson");
  const first = createCassetteWriter(file);
  first.write({ type: "clock", time: 1 });
  first.flush();
  writeFileSync(file, '{"cassette":1}\n');
  const second = createCassetteWriter(file);
  second.write({ type: "clock", time: 2 });
  second.flush();
  first.write({ type: "clock", time: 3 });
  first.close();
  second.write({ type: "clock", time: 4 });
  second.close();
  expect(readFileSync(file, "utf8")).toBe('{"type":"clock","time":2}\n{"type":"clock","time":4}\n');
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("what is no cassette is never written over", () => {
  const file = join(folder, "README.md");
  writeFileSync(file, "# Read me\n");
  expect(() => createCassetteWriter(file)).toThrow("is not a cassette, and is not overwritten");
  expect(() => createCassetteWriter(folder)).toThrow("cannot be written (EISDIR)");
  expect(() => createCassetteWriter(join(folder, "none/run.ndjson"))).toThrow("cannot be written (ENOENT)");
  expect(() => createCassetteWriter("/dev/null")).toThrow("is not a cassette");
  expect(readFileSync(file, "utf8")).toBe("# Read me\n");
});
