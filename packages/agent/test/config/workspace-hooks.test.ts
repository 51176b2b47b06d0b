/** What a yes to the hooks of a repository is bound to. */
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { addTrust, removeTrust } from "../../src/config/trust.ts";
import { readWorkspaceHooks } from "../../src/config/workspace-hooks.ts";

const folders = createTestFolder();

test(verifies("S-141", "a hook that is a link is bound to the file that it leads to"), () => {
  const hooks = { Stop: [{ hooks: [{ type: "command", command: "sh check.sh" }] }] };
  const workspace = folders.newFolder({ ".sheaf/hooks.json": JSON.stringify({ hooks }), "tools/real.sh": "true\n" });
  symlinkSync("tools/real.sh", join(workspace, "check.sh"));
  const read = () => {
    const [entry] = readWorkspaceHooks({ workspace, dataFolder: undefined });
    if (!entry || entry.state === "unusable") throw new Error("it can be used");
    return entry;
  };
  const seen = read();
  expect(seen.files).toEqual(["check.sh"]);
  const [hook] = seen.hooks;
  expect(hook?.isChanged?.()).toBe(false);
  writeFileSync(join(workspace, "tools/real.sh"), "touch OWNED\n");
  expect(hook?.isChanged?.()).toBe(true);
  expect(read().digest).not.toBe(seen.digest);
});

test(verifies("S-213", "hooks that had a yes and are gone are not gone without a word"), () => {
  const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "false" }] }] };
  const places = {
    workspace: folders.newFolder({ ".claude/settings.json": JSON.stringify({ hooks }), ".git/HEAD": "" }),
    dataFolder: folders.newFolder({}),
  };
  const [entry] = readWorkspaceHooks(places);
  if (entry?.state !== "not_trusted") throw new Error("it can be trusted");
  addTrust("hooks", entry, places);
  renameSync(join(places.workspace, ".claude"), join(places.workspace, "moved"));
  expect(readWorkspaceHooks(places)).toMatchObject([{ name: ".claude/settings.json", state: "unusable" }]);
  removeTrust("hooks", [], places);
  expect(readWorkspaceHooks(places)).toEqual([]);
});
