/** Files without a name, for processes that are given an open file or its path in `/proc`. */
import { openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { toRunPrefix } from "./private-folder.ts";

/** Its descriptor. Only this user can open it. */
export function openUnnamedFile(content: string | Uint8Array): number {
  const path = join(tmpdir(), toRunPrefix() + randomUUID());
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path);
  if (typeof content === "string") writeSync(descriptor, content);
  else writeSync(descriptor, content);
  return descriptor;
}
