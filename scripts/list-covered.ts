/**
 * Writes docs/formats/INDEX.md, and the tables of the contracts that are made from code.
 * `-- --looked-at C7 C8` records that the tests of these clauses were compared with their words of today.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCitedClauses } from "../test/conformance/cited.ts";
import { hashOf, readClauses } from "../test/conformance/contract.ts";
import { formatContractFiles } from "../test/conformance/contract-files.ts";
import { requirements } from "../test/conformance/requirements.ts";

const root = join(import.meta.dirname, "..");
const [word, ...looked] = process.argv.slice(2);
if (word !== undefined && word !== "--looked-at") {
  console.error(`"${word}" is unknown: run npm run list-covered, or npm run list-covered -- --looked-at C7`);
  process.exit(2);
}

const { cited, always } = readCitedClauses();
for (const { path, text } of formatContractFiles({ clauses: readClauses(), requirements, cited, always }))
  writeFileSync(join(root, path), text);

const file = join(root, "test/conformance/requirements.ts");
let list = readFileSync(file, "utf8");
const clauses = readClauses();
for (const id of looked) {
  const clause = clauses.find((one) => one.id === id);
  const line = new RegExp(String.raw`^(    "?${id}"?: \["(?:[^"\\]|\\.)*", ")\w*("\],)$`, "m");
  if (!clause || !line.test(list)) {
    console.error(`${id} has no clause in docs/formats, or no line in test/conformance/requirements.ts`);
    process.exit(1);
  }
  list = list.replace(line, `$1${hashOf(clause)}$2`);
  console.log(`${id}: ${cited.get(id)?.join(", ") ?? "no test cites it"}`);
}
writeFileSync(file, list);
