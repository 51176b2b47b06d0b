import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { removeConversationFiles } from "../../src/workspace/conversation-folders.ts";
import { createKeptResults } from "../../src/workspace/kept-results.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const limits = { fileBytes: 100, conversationBytes: 1000, conversationFiles: 3, totalBytes: 250 };

test(verifies(["N57", "S-42"], "files and folders are for their user alone, and found again by name"), () => {
  const dataFolder = createTemporaryFolder();
  const place = { dataFolder, conversationId: "conv_1" };
  const file = createKeptResults(place).create()!;
  expect(file.name).toMatch(/^sheaf-output\/[\da-f]{8}\.txt$/);
  expect(file.append(Buffer.from("text"))).toBe(true);
  const root = join(dataFolder, "results/conv_1");
  expect(statSync(join(root, file.name)).mode & 0o777).toBe(0o600);
  expect(statSync(join(root, "sheaf-output")).mode & 0o777).toBe(0o700);
  expect(statSync(root).mode & 0o777).toBe(0o700);
  // Another process goes on with the conversation.
  expect(createKeptResults(place).find(file.name)?.found?.resolve(file.name).ok).toBe(true);
  expect(createKeptResults(place).find(`./${file.name}`)?.found).toBeDefined();
  expect(createKeptResults({ dataFolder, conversationId: "conv_2" }).find(file.name)).toEqual({ found: undefined });
});

test(verifies("N57", "no other name leads there, and no link is one"), () => {
  const dataFolder = createTemporaryFolder();
  const results = createKeptResults({ dataFolder, conversationId: "conv_1" });
  const { name } = results.create()!;
  for (const other of [
    "sheaf-output",
    "sheaf-output/x.txt",
    `${name}/..`,
    `../conv_1/${name}`,
    `a/${name}`,
    `/${name}`,
  ]) {
    expect(results.find(other)).toBeUndefined();
  }
  symlinkSync("/etc/hostname", join(dataFolder, "results/conv_1/sheaf-output/0123abcd.txt"));
  expect(results.find("sheaf-output/0123abcd.txt")?.found?.resolve("sheaf-output/0123abcd.txt").ok ?? false).toBe(
    false,
  );
});

test(verifies("N57", "a file, a conversation and all of them are bounded: the oldest go"), async () => {
  const dataFolder = createTemporaryFolder();
  const results = createKeptResults({ dataFolder, conversationId: "conv_1" }, limits);
  const folder = join(dataFolder, "results/conv_1/sheaf-output");
  const names = [1, 2, 3, 4].map((age) => {
    const file = results.create()!;
    expect([
      file.append(Buffer.from("x".repeat(90))),
      file.append(Buffer.from("x".repeat(11))),
      file.append(Buffer.from("x")),
    ]).toEqual([true, false, false]);
    file.end();
    utimesSync(join(folder, "..", file.name), age, age);
    return file.name;
  });
  expect(readdirSync(folder)).toHaveLength(3);
  expect(names.map((name) => results.find(name)?.found !== undefined)).toEqual([false, true, true, true]);
  await results.settle();
  const next = createKeptResults({ dataFolder, conversationId: "conv_2" }, limits);
  next.create();
  await next.settle();
  expect(readdirSync(join(dataFolder, "results"))).toEqual(["conv_2"]);
});

test(
  verifies("N57", "they go with their conversation; those of one that is not stored at the end of the response"),
  async () => {
    const dataFolder = createTemporaryFolder();
    createKeptResults({ dataFolder, conversationId: "conv_1" }).create();
    await removeConversationFiles(dataFolder, "conv_1");
    expect(existsSync(join(dataFolder, "results/conv_1"))).toBe(false);
    const temporary = createKeptResults({ makeTemporary: () => mkdtempSync(join(dataFolder, "run-")) });
    const { name } = temporary.create()!;
    expect(temporary.find(name)?.found).toBeDefined();
    await temporary.settle();
    expect(readdirSync(dataFolder).filter((entry) => entry.startsWith("run-"))).toEqual([]);
  },
);

test("where nothing can be written, nothing is kept", () => {
  const dataFolder = createTemporaryFolder();
  writeFileSync(join(dataFolder, "results"), "");
  expect(createKeptResults({ dataFolder, conversationId: "conv_1" }).create()).toBeUndefined();
  mkdirSync(join(dataFolder, "other"));
  expect(createKeptResults({ makeTemporary: () => mkdtempSync("/proc/none/run-") }).create()).toBeUndefined();
});
