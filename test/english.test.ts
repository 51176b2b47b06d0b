/** English may only get better: the habits of test/support/english.ts, counted in docs, comments, messages and commit subjects. */
import { describe, expect, test } from "vitest";
import {
  countHabits,
  findHabits,
  type HabitCount,
  readChangedFiles,
  readEnglishLimits,
  readSubjects,
} from "./support/english.ts";

/** Hits that a failure shows. */
const MAX_SHOWN = 10;

const limits = readEnglishLimits();
const counts = countHabits(limits);

/** New hits first, as far as git knows which files are new. */
function describeHits({ kind, habit, limit, hits }: HabitCount): string {
  const changed = readChangedFiles();
  const isNew = (place: string): boolean => kind === "commits" || changed.has(place.replace(/:\d+$/, ""));
  const shown = hits.filter(({ place }) => isNew(place)).slice(0, MAX_SHOWN);
  const lines = shown.map(({ place, text }) => `  ${place}: ${text.slice(0, 200)}`);
  return `${habit}: ${hits.length} in ${kind}, ${limit} at most; npm run english -- "${habit}" lists them all\n${lines.join("\n")}`;
}

describe("English", () => {
  test.each(counts.map((count) => [count.habit, count.kind, count] as const))("%s, in %s", (_, __, count) => {
    expect(count.hits.length > count.limit ? describeHits(count) : "").toBe("");
  });

  test("limits follow where the texts have become better", () => {
    const lower = counts.filter(({ kind, hits, limit }) => kind !== "commits" && hits.length < limit * 0.9 - 5);
    const rows = lower.map(({ kind, habit, hits, limit }) => `${habit}, in ${kind}: ${hits.length} of ${limit}`);
    if (rows.length > 0) console.info(`npm run english -- --update lowers these limits:\n${rows.join("\n")}`);
    expect(Object.keys(limits.limits)).toEqual(["docs", "comments", "messages", "commits"]);
  });

  // A gate that cannot fail proves nothing.
  test.each([
    ["docs", "What is piped in becomes context.", "what instead of a noun"],
    ["comments", "Of the current user.", "opening without a noun"],
    ["messages", "the message says what to do", "things that talk"],
    ["docs", "The run goes on.", "begin, go on, come"],
    ["docs", "There nobody waits.", "nobody, somebody, nothing"],
    ["docs", "Every command is refused.", "passive without an actor"],
    ["docs", "It has a tree of its own.", "own after the noun"],
    ["docs", "Those without a rule need one.", "that of, those with, one which"],
    ["docs", "A hook is no document.", "no before the noun"],
    ["docs", "Tools end, and so does the run.", "turned order"],
    ["docs", "A link that leads out fails.", "borrowed idioms"],
    ["docs", "Editors do it, too.", "adverb at the end"],
    ["docs", "One rule: the first: it wins.", "two joints in one sentence"],
    ["docs", "It is the end of the name of the file of a user.", "chain of of"],
    ["commits", "Mend the page", 'subject that is not "part: effect" in 72 characters'],
    ["commits", `page: ${"x".repeat(70)}`, 'subject that is not "part: effect" in 72 characters'],
    ["commits", "page: say which draft is new", "subject about words"],
  ] as const)("in %s %j is a hit", (kind, text, habit) => {
    expect(findHabits(kind, text)).toContain(habit);
  });

  test.each([
    ["commits", "page: show drafts only to their author"],
    ["comments", "Returns undefined if the file is missing."],
    ["docs", "If a call needs approval, Sheaf waits for your answer."],
    ["messages", 'show needs a session ID: run "sheaf ls" to list them'],
  ] as const)("in %s %j is none", (kind, text) => {
    expect(findHabits(kind, text)).toEqual([]);
  });

  test("a history that does not reach back far enough is left out", () => {
    expect(readSubjects("0000000000000000000000000000000000000000")).toBeUndefined();
  });
});
