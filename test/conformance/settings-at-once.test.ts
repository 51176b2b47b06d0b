/** Commands that change one file of the user's own at the same time, each in a process of its own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const names = Array.from({ length: 10 }, (_, index) => `n${index}`);

/** A configuration with an endpoint of each name, so that it can have a key. */
const endpoints = Object.fromEntries(
  names.map((name) => [name, { protocol: "openai-chat", baseUrl: `http://127.0.0.1:9/${name}` }]),
);

function createHome() {
  const home = folders.newFolder({ "config.json": JSON.stringify({ endpoints }) });
  const read = (file: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(home, file), "utf8")) as Record<string, unknown>;
  return { home, read };
}

test.each([
  {
    command: "mcp add",
    toArgs: (name: string) => ["mcp", "add", name, "--", "true"],
    list: (read: ReturnType<typeof createHome>["read"]) => Object.keys(read("config.json")["mcpServers"] as object),
  },
  {
    command: "login",
    toArgs: (name: string) => ["login", name],
    list: (read: ReturnType<typeof createHome>["read"]) => Object.keys(read("credentials.json")["keys"] as object),
  },
  {
    command: "trust",
    toArgs: (name: string) => ["trust", name],
    list: (read: ReturnType<typeof createHome>["read"]) =>
      (read("trust.json")["trusted"] as { root: string }[]).map(({ root }) => root.split("/").at(-1)!),
  },
])(verifies("R-74", "ten of sheaf $command at once are all kept"), async ({ toArgs, list }) => {
  const { home, read } = createHome();
  const cwd = folders.newFolder(Object.fromEntries(names.map((name) => [`${name}/a.txt`, ""])));
  const runs = names.map((name) => runSheaf(toArgs(name), { cwd, home, input: "a-key-of-one-of-them" }));
  const results = await Promise.all(runs);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, ""]));
  expect(list(read).toSorted()).toEqual(names);
});
