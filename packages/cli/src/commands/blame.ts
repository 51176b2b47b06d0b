/** `sheaf blame FILE[:LINE]`: the call, person or commit that made each line of a file (C195 to C197). */
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { now } from "@sheaf/agent/assemble/wire";
import { type BlamedLine, blameFile } from "@sheaf/agent/run/conversations/blame";
import { type BlameRange, toRanges } from "@sheaf/agent/run/conversations/blame-ranges";
import { type CommittedFile, findCommittedFile } from "@sheaf/agent/run/conversations/commit-lines";
import { SheafError } from "@sheaf/base/errors";
import { askGit, runGit } from "@sheaf/base/git/run-git";
import { sheafVersion } from "@sheaf/base/version";
import type { ParsedArguments } from "../arguments.ts";
import { chooseWord } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printJson, printText } from "../standard-output.ts";

const MAX_BYTES = 16 * 1024 ** 2;

/** Prints lines, ranges of lines, or a record of Agent Trace. @throws SheafError USAGE, STORAGE_…. */
export async function runBlame({ flags, positionals }: ParsedArguments, io: CommandIo): Promise<number> {
  const [word = ""] = positionals;
  const format = flags.json ? "json" : chooseWord("--format", flags.format ?? "text", ["text", "json", "agent-trace"]);
  const { path, line } = toPlace(word, io.cwd);
  const bytes = await readFile(path);
  const mask = createKnownMask(io.environment);
  return withSessionStore(io, undefined, async (store, { dataFolder }) => {
    const place = { store, dataFolder, environment: io.environment, now };
    const lines = await blameFile(path, bytes, place);
    if (!lines) throw new SheafError("USAGE", `${word} is not a text file: give sheaf blame a file with lines`);
    checkLine(word, line, lines.length);
    const ranges = toRanges(lines, line);
    if (flags.notes || format === "agent-trace") {
      const committed = await findCommittedFile(path, bytes, io.environment);
      const trace = toTrace(ranges, committed?.file ?? relative(io.cwd, path), committed?.commit);
      if (!flags.notes) return printJson(io, trace);
      if (committed && line === undefined) return printText(io, await writeNote(trace, committed));
      const advice = line === undefined ? `commit ${word} first: a note belongs to a commit` : "leave out the line";
      throw new SheafError("USAGE", `--notes cannot describe ${word}: ${advice}`);
    }
    const rows = ranges.map((range) => toRow(range, mask.mask));
    if (format === "json") return printJson(io, { path, ranges: rows });
    return printText(io, line === undefined ? formatLines(lines) : formatLine(`${path}:${line}`, rows[0]!));
  });
}

/** Reads FILE or FILE:LINE; a file with the whole name has priority. @throws SheafError USAGE. */
function toPlace(word: string, cwd: string): { readonly path: string; readonly line: number | undefined } {
  const [, name, digits] = existsSync(resolve(cwd, word)) ? [] : (/^(.+):(\d+)$/.exec(word) ?? []);
  const path = resolve(cwd, name ?? word);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    const problem = stats ? "is not a file" : "does not exist";
    throw new SheafError("USAGE", `${path} ${problem}: give the path of a file, such as src/main.ts:12`);
  }
  if (stats.size <= MAX_BYTES)
    return { path: realpathSync(path), line: digits === undefined ? undefined : Number(digits) };
  throw new SheafError("USAGE", `${path} has ${stats.size} bytes: sheaf blame reads files up to ${MAX_BYTES}`);
}

function checkLine(word: string, line: number | undefined, count: number): void {
  if (line === undefined || (line >= 1 && line <= count)) return;
  const advice = count === 0 ? "it is empty" : `write a line from 1 to ${count}`;
  throw new SheafError("USAGE", `${word} does not exist, the file has ${count} lines: ${advice}`);
}

function toRow({ start, end, origin, commit }: BlameRange, mask: (text: string) => string) {
  const { call, isCertain } = origin ?? {};
  return {
    start_line: start,
    end_line: end,
    by: call ? "sheaf" : "person",
    ...(call && {
      session_id: toBareId(call.response.conversationId),
      request_id: toBareId(call.response.id),
      call_id: call.callId,
      tool: call.tool,
      time: new Date(call.endedAt).toISOString(),
      model: call.model,
      prompt: mask(call.response.prompt),
      cost_usd: call.response.costUsd ?? null,
      certain: isCertain,
      ...(call.isOfAgent && { subagent: true }),
    }),
    ...(commit && { commit: commit.commit, author: commit.author, committed: new Date(commit.time).toISOString() }),
  };
}

function formatLines(lines: readonly BlamedLine[]): string {
  const width = String(lines.length).length;
  const rows = lines.map(({ text, origin, commit }, at) => {
    const { response, tool, endedAt } = origin?.call ?? {};
    const id = response ? toBareId(response.conversationId) : (commit?.commit ?? "");
    const name = toVisibleLine(tool ?? commit?.author ?? "not committed").slice(0, 18);
    const time = endedAt ?? commit?.time;
    const day = time === undefined ? "" : new Date(time).toISOString().slice(0, 10);
    const head = [id.slice(0, 8).padEnd(8), name.padEnd(18), day.padEnd(10), String(at + 1).padStart(width)];
    return `${[...head, toVisibleLine(text)].join("  ")}\n`;
  });
  return rows.join("");
}

function formatLine(place: string, row: ReturnType<typeof toRow>): string {
  const { start_line: _start, end_line: _end, ...fields } = row;
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name.padEnd(width)}  ${toVisibleLine(String(value))}\n`,
  );
  return `${toVisibleLine(place)}\n${lines.join("")}`;
}

/** Makes a record of Agent Trace with the lines that calls made. It has no prompts, because people push notes. */
function toTrace(ranges: readonly BlameRange[], path: string, revision: string | undefined) {
  const conversations = ranges.flatMap(({ origin, start, end }) => {
    if (!origin) return [];
    const { response, model, callId } = origin.call;
    const url = `urn:uuid:${toBareId(response.conversationId)}`;
    const related = [{ type: "response", url: `urn:uuid:${toBareId(response.id)}` }];
    const range = { start_line: start, end_line: end };
    return [
      { url, contributor: { type: "ai", model_id: model.slice(0, 250) }, ranges: [range], related, call_id: callId },
    ];
  });
  return {
    version: "0.1",
    id: randomUUID(),
    timestamp: new Date(now()).toISOString(),
    ...(revision !== undefined && { vcs: { type: "git", revision } }),
    tool: { name: "sheaf", version: sheafVersion },
    files: [{ path, conversations }],
  };
}

const NOTES = ["notes", "--ref=agent-trace"];

/** Replaces the record of this file in the note of the commit; each record is a line. @throws SheafError INTERNAL. */
async function writeNote(trace: ReturnType<typeof toTrace>, { setup, commit, file }: CommittedFile): Promise<string> {
  const { stdout } = await runGit(setup, [...NOTES, "show", commit]);
  const others = stdout
    .toString()
    .split("\n")
    .filter((row) => row !== "" && !row.includes(`"path":${JSON.stringify(file)}`));
  const input = `${[...others, JSON.stringify(trace)].join("\n")}\n`;
  await askGit(setup, [...NOTES, "add", "-f", "-F", "-", commit], { purpose: "write the note", input });
  return `Wrote the note of ${commit}: git notes --ref=agent-trace show ${commit} prints it.\n`;
}
