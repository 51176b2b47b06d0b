/** Counts the habits that make English read as translated. A hit is a symptom: write the sentence anew, from its actor. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "vite";

const root = join(import.meta.dirname, "../..");

/** The texts that people read. `messages`: strings of the source that are sentences. */
const kinds = ["docs", "comments", "messages", "commits"] as const;

type Kind = (typeof kinds)[number];

/** A paragraph, a comment, a string or a subject. `place`: a file with its line, or a commit. */
interface Passage {
  readonly place: string;
  readonly text: string;
}

interface Habit {
  readonly pattern: RegExp;
  /** Default: everywhere. */
  readonly kind?: Kind;
}

/** By name. Each pattern finds one way of writing around the noun or the actor that a reader waits for. */
const habits: Readonly<Record<string, Habit>> = {
  "what instead of a noun": {
    pattern:
      /\bwh(?:at|atever|oever) (?:is|are|was|were|has|have|had|it|they|you|an?|the|no|runs|goes|needs|com(?:es|e)|came)\b/gi,
  },
  "opening without a noun": {
    pattern:
      /^(?:What|Who|Which|Whether|Where|Why|How|Of|By|For|From|With|Without|As|That|Those|None|Only|Also|Else)\b/g,
    kind: "comments",
  },
  "things that talk": {
    pattern:
      /\b(?:say|says|said|tell|tells|told) (?:it|so|that|what|where|which|whether|who|why|how)\b|\b(?:is|are|was|were) told\b|\bnames (?:an?|the|its?|each|no|another)\b/gi,
  },
  "begin, go on, come": {
    pattern:
      /\b(?:go|goes|going|gone|went) on\b|\bbeg(?:in|ins|an|un|inning)\b|\bcom(?:e|es|ing) (?:back|after|before|first|from|later|next|of|with)\b/gi,
  },
  "nobody, somebody, nothing": { pattern: /\b(?:nobody|no one|nothing|somebody|whoever) [a-z]/gi },
  "passive without an actor": {
    pattern:
      /\b(?:is|are|was|were) (?:asked|counted|cut|declined|ended|filled in|given|kept|left (?:alone|out)|moved|named|offered|put|refused|removed|resolved|said|sent|shown|taken|tried)\b(?! by\b)/gi,
  },
  "own after the noun": {
    pattern: /\bof (?:his|her|its|my|one's|our|their|your|\w+'s) own\b|\bof (?:ours|others|theirs|yours)\b/gi,
  },
  "that of, those with, one which": {
    pattern:
      /\bthat of\b|\bthose (?:of|that|which|who|with|without|from|for)\b|\bones? (?:that|which|whose|with|without)\b/gi,
  },
  "no before the noun": {
    pattern:
      /\b(?:be|is|are|was|were) (?:no|none)\b|\b(?:there (?:is|are)|has|have|had|makes?|takes?|gives?|costs?) none\b|\bnone (?:is|are|has|of|if)\b/gi,
  },
  "turned order": {
    pattern:
      /(?:^|[.:;|(] )Of (?:an?|the|its|all|both|each|one|other|several|these|those|two)\b|\bso (?:are|can|did|do|does|had|has|have|is|was|will) [a-z]|\bnor\b/g,
  },
  "borrowed idioms": {
    pattern:
      /\bcounts?(?: as| for| in\b|[.,:;])|\bleads? (?:elsewhere|into|nowhere|out|that|there|to)\b|\b(?:an?|another|its|new|no|says?|the|your) yes\b|\bforeign\b|\b(?:holds?|stands?) (?:for|back|only|still|until|up)\b/gi,
  },
  "adverb at the end": {
    pattern:
      /, too\b|\balso (?:after|at|by|for|if|in|when|where|with)\b|\b(?:all the same|anew|as ever|at hand|besides|in its place|in place of|likewise)\b/gi,
  },
  "two joints in one sentence": { pattern: /: [^.:|]*[a-z][^.:|]*: [a-z]|; [^.;|]*; [a-z]/g },
  "chain of of": {
    pattern:
      /\bof (?:[\w'`]+ ){1,3}of (?:[\w'`]+ ){1,3}of\b|\bof (?:an?|all|each|its|the|their|this) \w+ of (?:an?|all|each|its|one|the|their|this)\b/g,
  },
  'subject that is not "part: effect" in 72 characters': { pattern: /^(?![\w./, -]+: \S).*|^.{73,}/g, kind: "commits" },
  "subject about words": { pattern: /^(?:[^:]*: )?(?:say|tell) /gi, kind: "commits" },
};

/** How often each habit may occur in each kind of text; `since`: the commit after which subjects are counted. */
export interface EnglishLimits {
  readonly since: string;
  readonly limits: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** All that occurs, with the limit. */
export interface HabitCount {
  readonly kind: Kind;
  readonly habit: string;
  readonly limit: number;
  readonly hits: readonly Passage[];
}

/** Names of the habits in a text. */
export function findHabits(kind: Kind, text: string): string[] {
  const found = Object.entries(habits).filter(([, habit]) => habit.kind === undefined || habit.kind === kind);
  return found.filter(([, { pattern }]) => text.match(pattern)).map(([name]) => name);
}

const limitsFile = join(import.meta.dirname, "../english-limits.json");

export function readEnglishLimits(): EnglishLimits {
  return JSON.parse(readFileSync(limitsFile, "utf8")) as EnglishLimits;
}

/** Counts every habit in every kind of text. Subjects are left out where the history does not reach back to `since`. */
export function countHabits({ since, limits }: EnglishLimits): HabitCount[] {
  const source = readSource();
  const passages: Record<Kind, readonly Passage[]> = {
    ...source,
    docs: readDocs(),
    commits: readSubjects(since) ?? [],
  };
  return kinds.flatMap((kind) =>
    Object.entries(habits)
      .filter(([, habit]) => habit.kind === undefined || habit.kind === kind)
      .map(([name, { pattern }]) => ({
        kind,
        habit: name,
        limit: limits[kind]?.[name] ?? 0,
        hits: passages[kind].flatMap((passage) => Array.from(passage.text.matchAll(pattern), () => passage)),
      })),
  );
}

/** Lines of Markdown without their code. */
function readDocs(): Passage[] {
  const paths = globSync("**/*.md", {
    cwd: root,
    exclude: ["**/node_modules", "**/fixtures", "**/dist", "docs/formats/INDEX.md"],
  });
  return paths.toSorted().flatMap((path) => {
    let isCode = false;
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    return lines.flatMap((line, index) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) isCode = !isCode;
      const text = line.replaceAll(/`[^`]*`/g, "`x`").trim();
      return isFence || isCode || text === "" ? [] : [{ place: `${path}:${index + 1}`, text }];
    });
  });
}

function readSource(): { readonly comments: readonly Passage[]; readonly messages: readonly Passage[] } {
  const comments: Passage[] = [];
  const messages: Passage[] = [];
  const patterns = ["packages/*/src/**/*.{ts,tsx}", "packages/web/src/messages/en.json", "scripts/*.ts"];
  for (const path of globSync(patterns, { cwd: root }).toSorted()) {
    const content = readFileSync(join(root, path), "utf8");
    const code = path.endsWith(".json") ? `(${content})` : content;
    const parsed = parseSync(path.replace(/json$/, "js"), code);
    const toPlace = (offset: number): string => `${path}:${code.slice(0, offset).split("\n").length}`;
    for (const { start, text } of joinComments(parsed.comments, code)) comments.push({ place: toPlace(start), text });
    const add = (start: number, text: string): void => {
      if (isSentence(text)) messages.push({ place: toPlace(start), text });
    };
    new Visitor({
      Literal: ({ start, value }) => typeof value === "string" && add(start, value),
      TemplateLiteral: ({ start, quasis }) => add(start, quasis.map(({ value }) => value.cooked ?? "").join("X")),
    }).visit(parsed.program);
  }
  return { comments, messages };
}

interface Comment {
  readonly type: "Line" | "Block";
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Comments as they are read: line comments that follow each other are one text, and the signs around it are gone. */
function joinComments(found: readonly Comment[], code: string): { start: number; text: string }[] {
  const joined: { start: number; text: string }[] = [];
  let end = -1;
  for (const comment of found) {
    const text = comment.value
      .replaceAll(/^[ \t]*\*+ ?/gm, "")
      .replaceAll(/\s+/g, " ")
      .trim();
    const isNext = comment.type === "Line" && end >= 0 && /^\r?\n[ \t]*$/.test(code.slice(end, comment.start));
    end = comment.type === "Line" ? comment.end : -1;
    const last = joined.at(-1);
    if (isNext && last) last.text += ` ${text}`;
    else if (!/^(?:oxlint|eslint|prettier|@ts-)/.test(text)) joined.push({ start: comment.start, text });
  }
  return joined;
}

/** At least four words, and no statement for a database. */
function isSentence(text: string): boolean {
  const isSql = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA)\b/.test(text);
  return !isSql && /[a-z] [a-z]/.test(text) && (text.match(/[A-Za-z']+/g) ?? []).length >= 4;
}

/** Subjects after that commit. Undefined: there is no history, as in a tarball, or it does not reach back so far. */
export function readSubjects(since: string): Passage[] | undefined {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (git("merge-base", "--is-ancestor", since, "HEAD").status !== 0) return undefined;
  const { stdout } = git("log", "--no-merges", "--format=%h %s", `${since}..HEAD`);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => ({ place: line.split(" ", 1)[0]!, text: line.replace(/^\S+ /, "") }));
}

/** Files that differ from the last commit but one: new hits are probably there. */
export function readChangedFiles(): ReadonlySet<string> {
  const { stdout } = spawnSync("git", ["diff", "--name-only", "HEAD~1"], { cwd: root, encoding: "utf8" });
  return new Set((stdout ?? "").split("\n"));
}
