/** A session from a file of somebody else: what it names stays as it is, and a second import has a clear outcome. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Three folders with one file of the user each, and an export whose session says that it made those files. */
async function createClaim(claimed: "workspace" | "added folder" = "workspace") {
  const root = folders.newFolder({ "victim/notes.txt": "the user's\n", "here/notes.txt": "the user's\n" });
  const [victim, here, home] = ["victim", "here", "home"].map((name) => join(root, name)) as [string, string, string];
  const made = join(root, "made");
  mkdirSync(made);
  const events = [{ call: { tool: "write_file", arguments: { target_file: "notes.txt", content: "x\n" } } }];
  writeFileSync(join(root, "s.json"), JSON.stringify({ turns: [{ events }, { events: [{ text: "Done." }] }] }));
  const args = ["-p", "--model", `scripted:${root}/s.json`, "--output-format", "json", "go"];
  const { stdout } = await runSheaf(args, { cwd: made, home: join(root, "other") });
  const session = (JSON.parse(stdout) as { session_id: string }).session_id;
  const exported = await runSheaf(["export", session], { cwd: made, home: join(root, "other") });
  const claims = {
    workspace: [made, victim],
    "added folder": [`"workspace":"${made}"`, `"workspace":"${here}","addedFolders":["${victim}"]`],
  } as const;
  const claim = exported.stdout.replaceAll(claims[claimed][0], claims[claimed][1]);
  const file = join(root, "claim.json");
  writeFileSync(file, claim.replaceAll(made, victim));
  const run = (words: readonly string[], cwd = here) => runSheaf(words, { cwd, home });
  expect((await run(["import", file])).code).toBe(0);
  return { root, victim, here, home, session, file, run };
}

test.each(["workspace", "added folder"] as const)(
  verifies("S-91", "a revert of an imported session that names another %s changes no file, and lists them"),
  async (claimed) => {
    const { victim, session, run } = await createClaim(claimed);
    const refused = await run(["revert", session], victim);
    expect([refused.code, refused.stdout]).toEqual([8, ""]);
    expect(refused.stderr).toContain("notes.txt: its content of that time is not kept");
    const fork = (await run(["fork", session])).stdout.trim();
    for (const id of [session, fork]) {
      const { code, stdout } = await run(["revert", id, "--overwrite", "--workspace", victim]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/Left unchanged:\n {2}notes\.txt: /)]);
    }
    expect(readFileSync(join(victim, "notes.txt"), "utf8")).toBe("the user's\n");
  },
);

test(verifies("S-91", "a session of a time to come is not the newest one for ever"), async () => {
  const { file, session, run } = await createClaim();
  const { conversation, ...rest } = JSON.parse(readFileSync(file, "utf8")) as {
    conversation: object;
    responses: object[];
  };
  const createdAt = Date.now() + 1e12;
  const responses = rest.responses.map((response) => ({ ...response, createdAt }));
  writeFileSync(file, JSON.stringify({ ...rest, conversation: { ...conversation, createdAt }, responses }));
  await run(["rm", session]);
  await run(["import", file]);
  const [row] = JSON.parse((await run(["ls", "--all", "--json"])).stdout) as { created: string; updated: string }[];
  expect(Date.parse(row!.updated)).toBeLessThanOrEqual(Date.now());
  expect(Date.parse(row!.created)).toBeLessThanOrEqual(Date.now());
});

test(verifies("C20", "the same file again changes nothing, and is no failure"), async () => {
  const { file, session, run } = await createClaim();
  const { code, stdout, stderr } = await run(["import", file]);
  expect([code, stdout, stderr]).toEqual([0, `${session}\n`, ""]);
  expect(JSON.parse((await run(["ls", "--all", "--json"])).stdout)).toHaveLength(1);
});

test.each([
  [
    "other content under the same ids",
    (text: string) => text.replaceAll("Done.", "Gone."),
    "with another content of the response",
  ],
  ["a response that the stored session lacks", addResponse, "with no response 22222222-2222-4222-8222-222222222222"],
  [
    "responses of another session",
    (text: string) => text.replaceAll(/conv_[0-9a-f]{8}/g, "conv_11111111"),
    "is stored already, in the session",
  ],
])(verifies("C20", "%s: refused with the id, and nothing is stored"), async (_what, change, message) => {
  const { root, file, run } = await createClaim();
  const other = join(root, "other.json");
  writeFileSync(other, change(readFileSync(file, "utf8")));
  const before = await run(["ls", "--all", "--json"]);
  const { code, stdout, stderr } = await run(["import", other]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^sheaf: USAGE: the (session|response) [0-9a-f-]{36} is stored already, /);
  expect(stderr).toContain(message);
  expect((await run(["ls", "--all", "--json"])).stdout).toBe(before.stdout);
});

function addResponse(text: string): string {
  const claim = JSON.parse(text) as { responses: { id: string }[] };
  const [first] = claim.responses;
  const id = "chat_22222222-2222-4222-8222-222222222222";
  const more = JSON.parse(JSON.stringify(first).replaceAll(first!.id, id)) as { id: string };
  return JSON.stringify({ ...claim, responses: [first, more] });
}

test.each([
  ["notes.txt", `"path":7,`],
  ["notes.txt", `"path":"notes.txt",`],
])(verifies("S-71", "an export whose changes have no absolute path is refused: %s %s"), async (_name, path) => {
  const { root, file, run } = await createClaim();
  const text = readFileSync(file, "utf8").replaceAll(/"path":"[^"]*",/g, path);
  writeFileSync(join(root, "bad.json"), text.replaceAll(/(conv|chat)_[0-9a-f]{8}/g, "$1_33333333"));
  const { code, stderr } = await run(["import", join(root, "bad.json")]);
  expect(code).toBe(2);
  expect(stderr).toContain("is not an export of Sheaf (response 1 changed a file without an absolute path");
});
