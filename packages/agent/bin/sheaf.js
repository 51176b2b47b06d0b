#!/usr/bin/env node
// Starts Sheaf. This file alone must parse on any Node: it says in one line when Node is too old.
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const [major] = process.versions.node.split(".");
if (Number(major) < 24) {
  process.stderr.write(
    `sheaf: USAGE: Node.js ${process.versions.node} is too old, Sheaf needs 24 or newer: install it, or start Sheaf by "npx sheaf" in a project that has the npm package "node"\n`,
  );
  process.exit(2);
}
// Compiled code is kept in a folder of the user's own: in a shared one, another user could plant some.
const cache = process.env.SHEAF_HOME || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sheaf");
const compileCache = join(cache, "compile-cache");
if (makeFolder(compileCache)) module.enableCompileCache?.(compileCache);
await import("../dist/cli/main.js");

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
