/** Clients written from the contract alone: curl, Python's standard library, a package for event streams. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { reduce } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { readEvents, startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const folders = createTestFolder();
const examples = join(import.meta.dirname, "../../examples/chat-api");
const answer = "It is:\n\n```py\nprint(1)\n```\n\nDone.";
const script = { turns: [{ events: [{ text: answer, chunk: 3 }] }], after: "loop" };

const start = (): Promise<TestServer> => startServer({ script });

describeWithProgram("curl", () => {
  test(verifies(["N43", "X1"], "prints the stream, as the contract says"), async () => {
    const server = await start();
    const { stdout } = await run("sh", [
      join(examples, "chat.sh"),
      server.address,
      server.token,
      'say "go"\\n\tthen\nstop',
    ]);
    const events = await readEvents(new Response(stdout));
    expect(reduce(events).documents.map(({ type }) => type)).toEqual(["text", "code_block", "text"]);
    const listed = await run("curl", [
      "--silent",
      "--header",
      `Authorization: Bearer ${server.token}`,
      `${server.address}/v1/conversations`,
    ]);
    expect(listed.stdout).toContain('say \\"go\\"');
    expect(stdout).toMatch(/\nevent: done\ndata: [^\n]+\n\n$/);
  });

  test(verifies(["X2", "N49"], "resumes a stream where the guide's command does"), async () => {
    const server = await start();
    const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/chat-api.md"), "utf8");
    const [block] = /(?<=```sh\n)headers=[^]*?(?=```)/.exec(guide) ?? [];
    const env = { PATH: process.env.PATH, ADDRESS: server.address, TOKEN: server.token };
    const { stdout } = await run("bash", ["-euc", block!], { env, cwd: folders.newFolder() });
    expect(stdout).toMatch(/^retry: \d+\n\nid: 5\n/);
    expect(stdout).toMatch(/\nevent: done\n/);
  });
});

describeWithProgram("python3", () => {
  test(verifies(["N43", "N47"], "makes the documents with its standard library"), async () => {
    const server = await start();
    const { stdout } = await run("python3", [join(examples, "chat.py"), server.address, server.token, "go"]);
    const documents = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(documents).toEqual([
      { type: "text", content: "It is:" },
      { type: "code_block", content: "print(1)" },
      { type: "text", content: "Done." },
    ]);
  });
});

describeWithProgram("node", () => {
  test(verifies(["X2", "N50"], "follows a response with an unrelated package for event streams"), async () => {
    const server = await start();
    const asked = await server.chat({ message: "go" });
    const path = asked.headers.get("location")!;
    const { stdout } = await run(process.execPath, [join(examples, "follow.ts"), server.address, server.token, path]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", contents: ["It is:", "print(1)", "Done."] });
  });
});
