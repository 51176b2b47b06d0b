/**
 * Compares the outputs of the source that is checked out here with a recording (record.ts):
 *
 *     npx node --conditions=sheaf-source test/oracle/compare.ts DIR [PART]
 *
 * Prints the number of differences of each part with up to three examples. Exit code 1: there are some. With PART, such as
 * "acp", only parts whose name contains it are compared. Parts that were taken out on purpose are in withdrawn.ts.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { withdrawnOutputs } from "../conformance/withdrawn.ts";
import { makeOutputs } from "./outputs.ts";
import { readLineFile, toPartFile } from "./recording.ts";

const MAX_EXAMPLES = 3;

/** UTF-16 units on each side of the first difference. */
const CONTEXT = 120;

interface Row {
  same: number;
  different: number;
  /** Inputs that have an output now and had none before. */
  added: number;
  /** Sums by key, of inputs that have no output yet. */
  readonly missing: Map<string, string>;
  /** New texts by key. */
  readonly examples: Map<string, string>;
}

const [folder, only = ""] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    "compare.ts needs a folder: npx node --conditions=sheaf-source test/oracle/compare.ts DIR [PART]\n",
  );
  process.exit(2);
}
process.exitCode = (await compare(folder)) ? 0 : 1;

/** Prints the result. True: no difference. */
async function compare(recording: string): Promise<boolean> {
  const rows = new Map<string, Row>();
  for await (const [part, key, sum] of readLineFile<[string, string, string]>(join(recording, "sums.ndjson.gz"))) {
    if (part.includes(only)) toRow(rows, part).missing.set(key, sum);
  }
  for await (const { part, key, text } of makeOutputs(recording, only)) {
    addOutput(toRow(rows, part), key, text);
  }
  let isSame = true;
  for (const [part, row] of rows) {
    const reason = withdrawnOutputs[part];
    const isGone = row.same + row.different + row.added === 0;
    const isExpected = isGone && reason !== undefined;
    const count = row.different + row.added + row.missing.size;
    isSame &&= count === 0 || isExpected;
    const note = isExpected ? `withdrawn: ${reason}` : isGone ? "nothing makes it any more" : `${count} differences`;
    process.stdout.write(`${part}: ${row.same} equal, ${note}\n`);
    if (!isGone) await printExamples(recording, part, row);
  }
  return isSame;
}

function toRow(rows: Map<string, Row>, part: string): Row {
  const row = rows.get(part) ?? { same: 0, different: 0, added: 0, missing: new Map(), examples: new Map() };
  rows.set(part, row);
  return row;
}

function addOutput(row: Row, key: string, text: string): void {
  const sum = row.missing.get(key);
  row.missing.delete(key);
  if (sum === hash("sha256", text).slice(0, 16)) {
    row.same += 1;
    return;
  }
  if (sum === undefined) row.added += 1;
  else row.different += 1;
  if (row.examples.size < MAX_EXAMPLES) row.examples.set(key, text);
}

async function printExamples(recording: string, part: string, { examples, missing }: Row): Promise<void> {
  for (const key of [...missing.keys()].slice(0, MAX_EXAMPLES)) {
    process.stdout.write(`  ${JSON.stringify(key)}: no output any more\n`);
  }
  if (examples.size === 0) return;
  const before = new Map<string, string>();
  for await (const [key, text] of readLineFile<[string, string]>(toPartFile(recording, part))) {
    if (examples.has(key)) before.set(key, text);
  }
  for (const [key, text] of examples) {
    process.stdout.write(`  ${JSON.stringify(key)}\n${showDifference(before.get(key) ?? "", text)}`);
  }
}

/** The place of the first difference in both texts. */
function showDifference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const show = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - CONTEXT), at + CONTEXT));
  return `    before, around ${at} of ${before.length}: ${show(before)}\n    now, around ${at} of ${after.length}: ${show(after)}\n`;
}
