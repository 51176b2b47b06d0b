/** `sheaf store` has the operator's commands for a whole store (C76). */
import { existsSync } from "node:fs";
import { copyStore, createStore, migrateStore, openStoreDump, vacuumStore } from "@sheaf/agent/assemble/wire-stores";
import { now } from "@sheaf/agent/assemble/wire";
import { errorTable, SheafError } from "@sheaf/base/errors";
import { createConfig } from "@sheaf/agent/config/config";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { endCutResponse } from "@sheaf/agent/run/conversations/end-cut-response";
import { checkStore, type StoreReport } from "@sheaf/store/check-store";
import { tableNames, type StoreDump } from "@sheaf/store/store-tables";
import { isPostgresAddress } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { toStorePlace } from "../session-store.ts";
import { printJson, printText } from "../standard-output.ts";

interface Places {
  /** Path of the current user's SQLite store. */
  readonly file: string;
  /** The store of the command: the file, or the database in the flags. */
  readonly place: string;
  readonly isJson: boolean;
  readonly io: CommandIo;
}

const actions: Readonly<Record<string, (places: Places) => Promise<number>>> = {
  check: runCheck,
  migrate: runMigrate,
  vacuum: runVacuum,
  copy: runCopy,
};

/** Runs the chosen action. @throws SheafError USAGE, CONFIG_INVALID, STORAGE_…, CONVERSATION_BUSY. */
export async function runStore(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [name = "", ...rest] = parsed.positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || rest.length > 0) {
    const words = parsed.positionals.join(" ");
    const problem = words === "" ? "store needs an action" : `store "${words}" is unknown`;
    throw new SheafError("USAGE", `${problem}: use one of ${Object.keys(actions).join(", ")}`);
  }
  const { storeFile: file } = createConfig({}, io.environment, io.cwd);
  const place = toStorePlace(parsed.flags, io, file);
  // A look at a missing store must not create it.
  if ((place === file || action === runCopy) && !existsSync(file)) {
    throw new SheafError("USAGE", `there is no store at ${file}: set SHEAF_HOME, or name a database with --store`);
  }
  return action({ file, place, isJson: toCommandFormat(parsed) === "json", io });
}

async function withDump<Result>(place: string, use: (dump: StoreDump) => Promise<Result>): Promise<Result> {
  const dump = await openStoreDump(place);
  try {
    return await use(dump);
  } finally {
    await dump.close();
  }
}

/** Prints the findings; exit code 9 if any. */
async function runCheck({ place, isJson, io }: Places): Promise<number> {
  return withDump(place, async (dump) => {
    const report = await checkStore(dump);
    const { schema } = dump;
    const code = await (isJson
      ? printJson(io, { store: dump.place, schema, ...report })
      : printText(io, formatReport(dump, report)));
    return code === 0 && report.problemCount > 0 ? errorTable.STORAGE_CORRUPT.exitCode : code;
  });
}

function formatReport({ place, schema }: StoreDump, report: StoreReport): string {
  const { conversations, responses, open, events, problems, problemCount } = report;
  const more = problemCount - problems.length;
  const lines = [
    `${toVisibleLine(place)}: schema ${schema}`,
    `${conversations} conversations, ${responses} responses (${open} open), ${events} events`,
    problemCount === 0 ? "no problems" : `problems: ${problemCount}`,
    ...problems.map((problem) => `  ${toVisibleLine(problem)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

async function runMigrate({ place, isJson, io }: Places): Promise<number> {
  const { version, newest } = await migrateStore(place);
  if (isJson) return printJson(io, { from: version, to: newest });
  return printText(
    io,
    version === newest ? `schema ${newest} is the newest\n` : `schema ${version} is now ${newest}\n`,
  );
}

async function runVacuum({ place, isJson, io }: Places): Promise<number> {
  await vacuumStore(place);
  return isJson ? printJson(io, { ok: true }) : printText(io, "done\n");
}

async function runCopy({ file, place, isJson, io }: Places): Promise<number> {
  if (!isPostgresAddress(place)) {
    throw new SheafError("USAGE", `store copy needs a database to copy ${file} to: give --store postgres://…`);
  }
  await endOpenResponses(file);
  const sums = await copyStore(file, place);
  const counts = Object.fromEntries(tableNames.map((table) => [table, sums[table].count]));
  if (isJson) return printJson(io, { rows: counts });
  const { conversations, responses, event_groups: groups } = counts;
  return printText(
    io,
    `copied and verified: ${conversations} conversations, ${responses} responses, ${groups} groups of events\n`,
  );
}

/** Ends the responses of dead processes, as a server's next start does. @throws SheafError CONVERSATION_BUSY. */
async function endOpenResponses(file: string): Promise<void> {
  const store = await createStore(file);
  try {
    for (const { id, owner } of await store.listOpenResponses()) {
      if (await endCutResponse(store.forOwner(owner), id, now)) continue;
      const message = `${id} is being written: stop the server and every other sheaf that uses ${file}, then copy`;
      throw new SheafError("CONVERSATION_BUSY", message, { source: "storage" });
    }
  } finally {
    await store.close();
  }
}
