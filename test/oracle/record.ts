/**
 * Records the outputs of the source that is checked out here, for compare.ts:
 *
 *     npx node --conditions=sheaf-source test/oracle/record.ts DIR [SPOOL]
 *
 * DIR keeps the inputs, too. With SPOOL, which a run of the tests with watch-stores.js has filled, they are made anew:
 *
 *     SHEAF_ORACLE_LOGS=SPOOL NODE_OPTIONS=--import=$PWD/test/oracle/watch-stores.js npx vitest run
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { collectLogs } from "./collect-logs.ts";
import { generateCommands } from "./generate-commands.ts";
import { writeOldStores } from "./old-stores.ts";
import { makeOutputs, type StoredLog } from "./outputs.ts";
import { createLineFile, type LineFile, readLineFile, toPartFile } from "./recording.ts";

const COMMANDS = 100_000;

/** Logs in each old store. */
const STORED_LOGS = 40;

const [folder, spool] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    "record.ts needs a folder: npx node --conditions=sheaf-source test/oracle/record.ts DIR [SPOOL]\n",
  );
  process.exit(2);
}
if (spool !== undefined) await makeInputs(folder, spool);
await record(folder);

async function makeInputs(target: string, source: string): Promise<void> {
  const { found, kept } = await collectLogs(source, target);
  process.stdout.write(`${found} logs, ${kept} of them different\n`);
  const commands = createLineFile(join(target, "commands.ndjson.gz"));
  for (const command of generateCommands(COMMANDS)) await commands.write(command);
  await commands.end();
  const whole: (readonly RunEvent[])[] = [];
  for await (const { events } of readLineFile<StoredLog>(join(target, "logs.ndjson.gz"))) {
    const isWhole = events[0]?.type === "run_start" && events.at(-1)?.type === "run_end";
    if (isWhole && events.length > 5 && whole.length < STORED_LOGS) whole.push(events);
  }
  await writeOldStores(join(target, "stores"), whole);
}

/** Writes the bytes of each output, and its hash. */
async function record(target: string): Promise<void> {
  rmSync(join(target, "outputs"), { recursive: true, force: true });
  const sums = createLineFile(join(target, "sums.ndjson.gz"));
  const parts = new Map<string, { readonly file: LineFile; count: number }>();
  for await (const { part, key, text } of makeOutputs(target)) {
    const row = parts.get(part) ?? { file: createLineFile(toPartFile(target, part)), count: 0 };
    parts.set(part, row);
    row.count += 1;
    await row.file.write([key, text]);
    await sums.write([part, key, hash("sha256", text).slice(0, 16)]);
  }
  for (const { file } of parts.values()) await file.end();
  await sums.end();
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  const counts = Object.fromEntries([...parts].map(([part, { count }]) => [part, count]));
  writeFileSync(join(target, "manifest.json"), `${JSON.stringify({ commit, counts }, undefined, 2)}\n`);
  process.stdout.write(`recorded ${commit}: ${parts.size} parts in ${target}\n`);
}
