/** Writes a.txt in a process of its own: `write-in-process.ts BYTES [ROOT [endless]]` prints "ok", or the error. */
import { writeFileAtomically } from "../../src/files/atomic-write.ts";
import { createWorkspace, type WorkspacePath } from "../../src/files/workspace.ts";
import { readWholeFile } from "../../src/files/read-file.ts";

const [bytes = "10", root = "/mnt", endless] = process.argv.slice(2);
const workspace = createWorkspace(root);

async function write(path: WorkspacePath, letter: string): Promise<string> {
  const before = await readWholeFile(root, path, 100_000_000);
  const identity = before.ok ? before.value.identity : undefined;
  const result = await writeFileAtomically(workspace, path, Buffer.alloc(Number(bytes), letter), identity);
  return result.ok ? "ok" : `${result.error.code}: ${result.error.message}`;
}

const resolved = workspace.resolve("a.txt");
if (!resolved.ok) throw new Error(resolved.error.message);
for (let round = 0; ; round += 1) {
  process.stdout.write(`${await write(resolved.path, round % 2 === 0 ? "a" : "b")}\n`);
  if (endless === undefined) break;
}
