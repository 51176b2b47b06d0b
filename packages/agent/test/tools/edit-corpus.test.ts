/** Edit matching on a corpus of real files: no edit lands in a wrong place, and most that can be understood are. */
import { expect, test } from "vitest";
import { chooseRuns, reportFigure, soakTimeout } from "../../../../test/support/soak.ts";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { createEditCorpus, type EditCase } from "./edit-corpus.ts";
import { createFileToolContext } from "./file-tool-context.ts";

interface Tally {
  cases: number;
  applied: number;
  refused: number;
  readonly wrong: string[];
}

/** Blanks at the ends of lines and their indentation may follow the file or the edit; nothing else may differ. */
const toBare = (text: string): string =>
  text
    .normalize("NFC")
    .replaceAll(/[\u201c\u201d]/g, '"')
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u2010-\u2015]/g, "-")
    .replaceAll("\u2026", "...")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join("\n");

interface Verdict {
  readonly kind: "applied" | "refused" | "wrong";
  /** What is wrong. */
  readonly reason: string;
}

async function judge(example: EditCase): Promise<Verdict> {
  const { context, write, read } = createFileToolContext();
  const { before, edits, after, mayBeRefused, changedTo, source } = example;
  write("f.txt", before);
  await readFileTool.run({ target_file: "f.txt" }, context);
  if (changedTo !== undefined) write("f.txt", changedTo);
  const outcome = await editFileTool.run({ target_file: "f.txt", edits: edits.map((edit) => ({ ...edit })) }, context);
  const now = read("f.txt");
  if (outcome.status !== "success") {
    if (now !== (changedTo ?? before)) return toWrong(source, "refused, and the file changed");
    if (mayBeRefused) return { kind: "refused", reason: "" };
    return toWrong(source, `refused (${outcome.error?.message})`);
  }
  if (after === undefined) return toWrong(source, "applied, and should not have been");
  const isCrlf = before.includes("\r\n");
  if (isCrlf && /[^\r]\n/.test(now)) return toWrong(source, "line ends were lost");
  if (toBare(now) !== toBare(after)) return toWrong(source, "another place, or another text");
  return { kind: "applied", reason: "" };
}

function toWrong(source: string, reason: string): Verdict {
  return { kind: "wrong", reason: `${source}: ${reason}` };
}

test(
  "0 wrong places; what is ambiguous, stale or not there is refused and leaves the file as it was",
  { timeout: soakTimeout },
  async () => {
    const tallies = new Map<string, Tally>();
    const perKind = chooseRuns(20, 150);
    const corpus = createEditCorpus(perKind);
    expect(corpus.length).toBeGreaterThanOrEqual(15 * perKind);
    for (const example of corpus) {
      const tally = tallies.get(example.kind) ?? { cases: 0, applied: 0, refused: 0, wrong: [] };
      tallies.set(example.kind, tally);
      tally.cases += 1;
      const verdict = await judge(example);
      if (verdict.kind === "wrong") tally.wrong.push(verdict.reason);
      else tally[verdict.kind] += 1;
    }
    const rows = [...tallies].map(
      ([kind, { cases, applied, refused, wrong }]) =>
        `| ${kind} | ${cases} | ${applied} | ${refused} | ${wrong.length} |`,
    );
    reportFigure(
      "edits",
      `\n${["| kind | cases | applied | refused | wrong |", "|---|---|---|---|---|", ...rows].join("\n")}`,
    );
    expect([...tallies.values()].flatMap(({ wrong }) => wrong)).toEqual([]);
    // What differs in blanks and marks only is understood nearly always.
    for (const kind of [
      "exact",
      "CRLF in the file",
      "trailing blanks in the file",
      "trailing blanks in the edit",
      "indentation left out",
    ]) {
      const { applied, cases } = tallies.get(kind)!;
      expect(applied / cases, kind).toBeGreaterThan(0.9);
    }
  },
);
