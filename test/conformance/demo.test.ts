/** The demonstration that needs no key (section 4 of docs/formats/cli.md). */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { createTestFolder, openSheaf, parseStream, runSheaf, toKinds } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const { newFolder } = createTestFolder();

describeWithBubblewrap("sheaf demo", () => {
  test(
    verifies("C224", "shows a failing test, a fix and a passing test, and keeps out of the user's folders"),
    async () => {
      const [cwd, home] = [newFolder(), newFolder({ "config.json": '{"model":"none/none","verify":["false"]}' })];
      const { code, stdout, stderr } = await runSheaf(["demo"], { cwd, home });
      expect([code, stderr]).toEqual([0, expect.stringContaining("verified: node cart.test.js")]);
      expect(stdout).toContain("Edited file");
      const folder = /In (\S+), Sheaf/.exec(stderr)![1]!;
      expect(readFileSync(join(folder, "cart.js"), "utf8")).toContain("let sum = 0;");
      expect([readdirSync(cwd), readdirSync(home)]).toEqual([[], ["config.json"]]);
      expect(readdirSync(dirname(folder)).toSorted()).toEqual(["answers.json", "home", "shop"]);
    },
  );

  test(verifies("C224", "in another format: the test fails, passes, and passes again as --verify"), async () => {
    const words = ["demo", "--output-format", "stream-json"];
    const { stdout } = await runSheaf(words, { cwd: newFolder(), home: newFolder() });
    const lines = parseStream(stdout);
    const codes = lines.flatMap((line) => /"exitCode":(\d+)/.exec(JSON.stringify(line))?.[1] ?? []);
    expect(codes).toEqual(["1", "0", "0"]);
    expect(toKinds(lines).at(-1)).toBe("result/success");
  });

  test(verifies("C224", "--open: the page's server has the run while it runs, and a signal ends it"), async () => {
    const { output, readError, send, ended } = openSheaf(["demo", "--open"], { cwd: newFolder(), home: newFolder() });
    let text = "";
    output.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await expect.poll(() => text).toContain("Sheaf listens on");
    const [, address, id, file] = /on (http:\/\/[^/]+)\/#ticket=[\w-]+\/(conv_[\w-]+) \(token: (.*)\)/.exec(text)!;
    const headers = { authorization: `Bearer ${readFileSync(file!, "utf8").trim()}` };
    const list = async () => (await fetch(`${address}/v1/conversations`, { headers })).text();
    await expect.poll(list).toContain("runningResponseId");
    const { conversations } = JSON.parse(await list()) as { conversations: { id: string }[] };
    expect(conversations.map((one) => one.id)).toEqual([id]);
    await expect.poll(readError, { timeout: 20_000 }).toContain("Ctrl-C ends the page.");
    send("SIGINT");
    expect(await ended).toBe(0);
  });
});
