/** The program shows no secret that a run reads or writes, except to who asks for it (S-257). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outputFormats } from "../../packages/agent/src/output/projection.ts";
import { findLeak, secretKinds } from "../support/secret-kinds.ts";
import { createModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const kinds = Object.values(secretKinds);
const keys = kinds.map(({ text }) => text).join("\n");
const { newFolder } = createTestFolder();

function listLeaks(text: string): string[] {
  return kinds.map(({ secret }) => findLeak(text, secret)).filter((leak) => leak !== "");
}

const script = JSON.stringify({
  turns: [
    { events: [{ call: { tool: "read_file", arguments: { target_file: ".env" } } }] },
    { events: [{ text: `They are:\n${keys}\n`, chunk: 5 }] },
    { events: [{ text: "Again." }] },
  ],
});

test(
  verifies(["S-257", "C31"], "stdout, show and exports have none; --unmasked and a resumed run have all"),
  async () => {
    const cwd = newFolder({ ".env": keys });
    const home = newFolder({ "script.json": script });
    const model = `scripted:${join(home, "script.json")}`;
    const last = join(home, "last.md");
    const run = await runSheaf(["-p", "--model", model, "--output-last-message", last, `Read ${keys}`], { cwd, home });
    expect([run.code, listLeaks(run.stdout + run.stderr + readFileSync(last, "utf8"))]).toEqual([0, []]);
    const session = String(parseStream(run.stdout)[0]!.session_id);
    const commands = [
      ...outputFormats.map((format) => ["show", session, "--output-format", format]),
      ["export", session],
      ["export", session, "--format", "markdown"],
    ];
    for (const words of commands) {
      const masked = await runSheaf(words, { cwd, home });
      expect([words, masked.code, listLeaks(masked.stdout)]).toEqual([words, 0, []]);
      expect(masked.stdout).toContain("[masked]");
      const { stdout } = await runSheaf([...words, "--unmasked"], { cwd, home });
      expect([words, listLeaks(stdout).length]).toEqual([words, kinds.length]);
    }
    const listed = await runSheaf(["ls", "--format", "json"], { cwd, home });
    expect(listLeaks(listed.stdout)).toEqual([]);

    const server = await createModelServer();
    const live = ["-p", "--model", "openai-compatible/m", "--base-url", server.url, "--resume", session, "Again"];
    await runSheaf(live, { cwd, home });
    await server.close();
    const { body } = server.requests.at(-1)!;
    expect(body).not.toContain("[masked]");
    for (const { text } of kinds) expect(body).toContain(JSON.stringify(text).slice(1, -1));
  },
);

test(verifies("S-257", "stderr has none"), async () => {
  const { text, secret } = secretKinds.github!;
  const { stderr } = await runSheaf(["show", text], { cwd: newFolder() });
  expect(stderr).toContain("[masked]");
  expect(findLeak(stderr, secret)).toBe("");
});
