import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createCheckpoints, MAX_CHECKPOINT_BYTES } from "../../src/workspace/checkpoints.ts";
import { removeConversationFiles } from "../../src/workspace/conversation-folders.ts";
import { toHash } from "@sheaf/base/files/read-file";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const keepText = (checkpoints: ReturnType<typeof createCheckpoints>, text: string | Uint8Array) =>
  checkpoints.keep(toHash(Buffer.from(text)), Buffer.from(text));

test(verifies("S-42", "contents are kept once, compressed, in files that only the user reads"), async () => {
  const folder = createTemporaryFolder();
  const checkpoints = createCheckpoints(folder, "conv_1");
  const contents = ["", "text\n", "long ".repeat(100_000), Buffer.from([0, 255, 128, 10])];
  for (const content of [...contents, ...contents]) expect(await keepText(checkpoints, content)).toBeUndefined();
  const own = join(folder, "checkpoints", "conv_1");
  expect(readdirSync(own).toSorted()).toEqual(contents.map((content) => toHash(Buffer.from(content))).toSorted());
  expect(statSync(join(folder, "checkpoints")).mode & 0o777).toBe(0o700);
  expect(statSync(own).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(own)) expect(statSync(join(own, name)).mode & 0o777).toBe(0o600);
  expect(statSync(join(own, toHash(Buffer.from(contents[2]!)))).size).toBeLessThan(1000);
  const later = createCheckpoints(folder, "conv_1");
  for (const content of contents) {
    expect(await later.read(toHash(Buffer.from(content)))).toEqual(Buffer.from(content));
  }
  expect(await createCheckpoints(folder, "conv_2").read(toHash(Buffer.from("text\n")))).toBeUndefined();
});

test("a content that is damaged on the disk is not given", async () => {
  const folder = createTemporaryFolder();
  const checkpoints = createCheckpoints(folder, "conv_1");
  await keepText(checkpoints, "one");
  await keepText(checkpoints, "two");
  const own = join(folder, "checkpoints", "conv_1");
  const [one, two] = ["one", "two"].map((text) => toHash(Buffer.from(text))) as [string, string];
  rmSync(join(own, one));
  writeFileSync(join(own, one), "no compressed content");
  rmSync(join(own, two));
  // A whole content, but of another hash.
  await keepText(checkpoints, "three");
  writeFileSync(join(own, two), readFileSync(join(own, toHash(Buffer.from("three")))));
  expect(await checkpoints.read(one)).toBeUndefined();
  expect(await checkpoints.read(two)).toBeUndefined();
  expect(await checkpoints.read("../../../etc/passwd")).toBeUndefined();
});

test("what is too large, too much or cannot be written is told, never thrown", async () => {
  const folder = createTemporaryFolder();
  const checkpoints = createCheckpoints(folder, "conv_1", { conversationBytes: 200, totalBytes: 1000 });
  expect(await keepText(checkpoints, Buffer.alloc(MAX_CHECKPOINT_BYTES + 1))).toMatch(/larger than 16777216 bytes/);
  expect(await keepText(checkpoints, Buffer.from(Array.from({ length: 150 }, (_, place) => place)))).toBeUndefined();
  const second = Buffer.from(Array.from({ length: 150 }, (_, place) => 255 - place));
  expect(await keepText(checkpoints, second)).toMatch(/take 200 bytes already/);
  // Also when another process counts.
  const again = createCheckpoints(folder, "conv_1", { conversationBytes: 200, totalBytes: 1000 });
  expect(await keepText(again, second)).toMatch(/take 200 bytes already/);

  const blocked = createTemporaryFolder();
  writeFileSync(join(blocked, "checkpoints"), "a file in the way");
  expect(await keepText(createCheckpoints(blocked, "conv_1"), "x")).toMatch(
    /could not be written \((EEXIST|ENOTDIR)\)/,
  );
  chmodSync(blocked, 0o700);
});

test("a new conversation makes room beside the run: those changed longest ago go first", async () => {
  const folder = createTemporaryFolder();
  const limits = { conversationBytes: 1000, totalBytes: 350 };
  const random = (seed: number) => Buffer.from(Array.from({ length: 150 }, (_, place) => (place * seed) % 251));
  for (const [place, id] of ["conv_old", "conv_older", "conv_new"].entries()) {
    await keepText(createCheckpoints(folder, id, { ...limits, totalBytes: 100_000 }), random(place + 3));
    const age = { conv_old: 200, conv_older: 300, conv_new: 100 }[id]!;
    utimesSync(join(folder, "checkpoints", id), age, 1_000_000_000 - age);
  }
  mkdirSync(join(folder, "checkpoints", "conv_next"), { recursive: true });
  const checkpoints = createCheckpoints(folder, "conv_next", limits);
  await keepText(checkpoints, random(9));
  await checkpoints.settle();
  expect(readdirSync(join(folder, "checkpoints")).toSorted()).toEqual(["conv_new", "conv_next", "conv_old"]);
  await removeConversationFiles(folder, "conv_new");
  expect(readdirSync(join(folder, "checkpoints")).toSorted()).toEqual(["conv_next", "conv_old"]);
});

test("ids of conversations never become paths", async () => {
  const folder = createTemporaryFolder();
  for (const id of ["../../evil", "a/b", "", "..", "conv_1\0", "x".repeat(300)]) {
    const checkpoints = createCheckpoints(folder, id);
    expect(await keepText(checkpoints, "x"), id).toBeUndefined();
    expect(await checkpoints.read(toHash(Buffer.from("x"))), id).toEqual(Buffer.from("x"));
  }
  expect(readdirSync(folder)).toEqual(["checkpoints"]);
  for (const name of readdirSync(join(folder, "checkpoints"))) expect(name).toMatch(/^[0-9a-f]{64}$/);
});
