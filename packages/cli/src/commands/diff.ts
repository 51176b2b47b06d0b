/** `sheaf diff SESSION SESSION`: the place where two sessions part, with their tokens, cost and files (C198). */
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { maskLog } from "@sheaf/agent/output/event-mask";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleText } from "@sheaf/agent/output/visible-text";
import { now } from "@sheaf/agent/assemble/wire";
import { type LoggedResponse, readLogs } from "@sheaf/agent/run/conversations/end-cut-response";
import { SheafError } from "@sheaf/base/errors";
import { digestLog } from "@sheaf/store/log-digest";
import type { SharedStore } from "@sheaf/store/store";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { type ComparedSession, findParting } from "../session-tests/compare-sessions.ts";
import { readSessionStates } from "../session-tests/start-files.ts";
import { toTestResponse } from "../session-tests/to-test-responses.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints a table and the first difference, which isn't a failure. @throws SheafError USAGE, STORAGE_…. */
export async function runDiff(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { positionals } = parsed;
  const format = toCommandFormat(parsed);
  if (positionals.length < 2) throw new SheafError("USAGE", "sheaf diff needs two sessions: run sheaf ls to list them");
  return withSessionStore(io, undefined, async (store, { dataFolder }) => {
    const sessions: Session[] = [];
    for (const word of positionals) sessions.push(await readSession(store, word, dataFolder, io));
    const [one, other] = sessions as [Session, Session];
    const parting = findParting(one, other) ?? null;
    const paths = [...new Set([...one.files.keys(), ...other.files.keys()])].toSorted();
    const files = paths.filter((path) => one.files.get(path) !== other.files.get(path));
    const rows = sessions.map(({ row }) => row);
    if (format === "json") return printJson(io, { sessions: rows, parting, files });
    return printText(io, formatComparison([one, other], parting, files));
  });
}

interface Session extends ComparedSession {
  readonly row: ReturnType<typeof toRow>;
  /** The id of each changed file's content at the end; null for a deleted file. */
  readonly files: ReadonlyMap<string, string | null>;
}

async function readSession(
  store: SharedStore,
  word: string,
  dataFolder: string,
  { environment }: CommandIo,
): Promise<Session> {
  const id = await findConversation(store, word);
  const { workspace } = (await store.getConversation(id))!;
  const mask = createKnownMask(environment);
  const logs: LoggedResponse[] = [];
  for await (const log of readLogs(store, id, now)) logs.push({ ...log, events: maskLog(log.events, { mask }) });
  const responses = logs.map(({ events }) => toTestResponse(events));
  const place = { conversationId: id, responseIds: logs.map((log) => log.id), workspace, dataFolder, environment };
  const { start = [], end = [] } = (await readSessionStates(place)) ?? {};
  const before = new Map(start.map((file) => [file.path, file.id]));
  const files = new Map<string, string | null>();
  for (const file of end) {
    if (before.get(file.path) !== file.id) files.set(file.path, file.id);
    before.delete(file.path);
  }
  for (const path of before.keys()) files.set(path, null);
  return { workspace, responses, files, row: toRow(id, logs, responses.at(-1)?.end ?? "completed", [...files.keys()]) };
}

function toRow(id: string, logs: readonly LoggedResponse[], end: string, files: readonly string[]) {
  const events = logs.flatMap((log) => log.events);
  const digests = logs.map((log) => digestLog(log.events));
  const sum = (read: (digest: (typeof digests)[number]) => number): number =>
    digests.reduce((total, digest) => total + read(digest), 0);
  const models = new Set(events.flatMap((event) => (event.type === "run_start" ? [event.model] : [])));
  return {
    session_id: toBareId(id),
    model: [...models].join(", "),
    responses: logs.length,
    turns: events.filter(({ type }) => type === "turn_end").length,
    calls: events.filter(({ type }) => type === "tool_result").length,
    input_tokens: sum(({ promptTokens }) => promptTokens),
    output_tokens: sum(({ completionTokens }) => completionTokens),
    cost_usd: digests.every(({ costUsd }) => costUsd === undefined) ? null : sum(({ costUsd = 0 }) => costUsd),
    end,
    files: files.toSorted(),
  };
}

function formatComparison(
  [one, other]: readonly [Session, Session],
  parting: ReturnType<typeof findParting> | null,
  files: readonly string[],
): string {
  const table = (Object.keys(one.row) as (keyof Session["row"])[]).map((name) => {
    const [first, second] = [one.row[name], other.row[name]].map((value) => String(value ?? "unknown"));
    return `${name.padEnd(13)}  ${first!.padEnd(36)}  ${second}`.trimEnd();
  });
  const difference = parting
    ? [`They part at ${parting.place}: ${parting.message}.`, ...parting.diff.split("\n").filter(Boolean)]
    : ["Prompts, answers, calls and results are the same."];
  const changed = files.length === 0 ? "Their files are the same." : `Files that differ: ${files.join(", ")}`;
  return toVisibleText([...table, "", ...difference, "", changed, ""].join("\n"));
}
