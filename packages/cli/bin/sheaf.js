#!/usr/bin/env node
// Starts Sheaf. This file alone must parse on any Node: it says in one line when Node is too old.
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

const [major] = process.versions.node.split(".");
if (Number(major) < 24) {
  process.stderr.write(
    `sheaf: USAGE: Node.js ${process.versions.node} is too old, Sheaf needs 24 or newer: install it (such as by "nvm install 24"), or run "npx --package node@24 --package sheaf sheaf", which brings it along\n`,
  );
  process.exit(2);
}
keepCompiledCode();
const { startSheaf } = await import("../dist/cli/main.js");
await startSheaf();

/**
 * Compiled code is kept in a folder of the user's own: in a shared one, or in a workspace, somebody else could plant some.
 * Without such a folder the start takes longer, and nothing else.
 */
function keepCompiledCode() {
  const { chmodSync, statSync } = process.getBuiltinModule("node:fs");
  try {
    const folder = join(findCacheFolder(), "compile-cache");
    if (!isAbsolute(folder) || !makeFolder(folder)) return;
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
    module.enableCompileCache?.(folder);
    const inner = module.getCompileCacheDir?.() ?? "";
    // Node makes its folder in there with the mode of the umask (S-42).
    if (inner.startsWith(folder) && (statSync(inner).mode & 0o077) !== 0) chmodSync(inner, 0o700);
  } catch {
    // No home folder, or one of another user.
  }
}

/** A relative folder of the system would lie in the workspace. */
function findCacheFolder() {
  const { SHEAF_HOME, XDG_CACHE_HOME = "" } = process.env;
  if (SHEAF_HOME) return resolve(SHEAF_HOME);
  return join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache"), "sheaf");
}

/** Where no folder can be made, as below /proc, Node itself would try for ever. */
function makeFolder(folder) {
  const { existsSync, mkdirSync } = process.getBuiltinModule("node:fs");
  if (existsSync(folder)) return true;
  if (dirname(folder) === folder || !makeFolder(dirname(folder))) return false;
  try {
    mkdirSync(folder, 0o700);
    return true;
  } catch {
    return existsSync(folder);
  }
}
