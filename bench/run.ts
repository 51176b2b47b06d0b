/** `npm run bench -- NAME [--quick]`: runs bench/NAME.ts. */
import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [name = ""] = process.argv.slice(2);
const file = join(import.meta.dirname, `${name}.ts`);
const names = globSync("*.ts", { cwd: import.meta.dirname })
  .map((path) => basename(path, ".ts"))
  .filter((candidate) => candidate !== "run")
  .toSorted();
if (!names.includes(name) || !existsSync(file)) {
  process.stderr.write(`name one of: ${names.join(", ")}\n`);
  process.exitCode = 2;
} else {
  await import(pathToFileURL(file).href);
}
