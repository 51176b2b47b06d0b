/** Edits of real files, as models get them right and wrong; where each belongs is known, because it was made from there. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../../../test/support/soak.ts";

/** One call of edit_file. */
export interface EditCase {
  readonly kind: string;
  /** Name of the file that it was made from. */
  readonly source: string;
  /** What the file holds. */
  readonly before: string;
  readonly edits: readonly {
    readonly old_string: string;
    readonly new_string: string;
    readonly replace_all?: boolean;
  }[];
  /** What may come of it; undefined: it must be refused. Some edits can be understood or refused, but never misplaced. */
  readonly after: string | undefined;
  readonly mayBeRefused: boolean;
  /** Written to the disk between reading and editing. */
  readonly changedTo?: string;
}

const root = join(import.meta.dirname, "../../../..");

/** Files of this repository and of packages whose version is pinned; several languages, tabs and blanks. */
const patterns = [
  "packages/agent/src/**/*.ts",
  "packages/documents/src/*.ts",
  "docs/**/*.md",
  "scripts/*.ts",
  "node_modules/highlight.js/lib/languages/{bash,cpp,perl}.js",
  "node_modules/node/node_modules/*/include/node/{node_api,uv,v8-array-buffer}.h",
  "node_modules/playwright-core/bin/*.sh",
  "node_modules/highlight.js/styles/github*.css",
];

interface SourceFile {
  readonly name: string;
  readonly lines: readonly string[];
}

function readSources(): SourceFile[] {
  const names = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
  return names
    .map((name) => ({ name, lines: readFileSync(join(root, name), "utf8").replaceAll("\r\n", "\n").split("\n") }))
    .filter(({ lines }) => lines.length >= 30 && lines.length < 3000);
}

/** Some lines of a file. */
interface Snippet {
  readonly file: SourceFile;
  /** 0-based. */
  readonly start: number;
  readonly lines: readonly string[];
}

type Kind = (snippet: Snippet, random: (below: number) => number) => Omit<EditCase, "kind" | "source"> | undefined;

const join2 = (lines: readonly string[], lineEnd = "\n"): string => lines.join(lineEnd);

/** The file with other lines in the place of the snippet. */
function splice({ file, start, lines }: Snippet, put: readonly string[]): string[] {
  return [...file.lines.slice(0, start), ...put, ...file.lines.slice(start + lines.length)];
}

/** The snippet with a word of one line changed, as an edit would. */
function change(lines: readonly string[], random: (below: number) => number): string[] {
  const place = random(lines.length);
  return lines.map((line, index) => (index === place ? `${line.trimEnd()} changed` : line));
}

const isUnique = (text: string, part: string): boolean =>
  text.indexOf(part) === text.lastIndexOf(part) && text.includes(part);

/** What a variant changes: lines of the file, and what the model quotes. */
interface Variant {
  readonly toFile?: (line: string, isInside: boolean) => string;
  readonly toOld?: (line: string) => string;
  readonly lineEnd?: string;
  readonly mayBeRefused?: boolean;
}

const keep = (line: string): string => line;

/** The snippet as it is, changed by `toOld` for the model and by `toFile` for the file. */
function toVariant({ toFile = keep, toOld = keep, lineEnd = "\n", mayBeRefused = true }: Variant): Kind {
  return ({ file, start, lines }, random) => {
    const inside = (index: number): boolean => index >= start && index < start + lines.length;
    const before = file.lines.map((line, index) => toFile(line, inside(index)));
    const changed = change(lines, random);
    const old = lines.map(toOld);
    const put = changed.map((line, index) => (line === lines[index] ? before[start + index]! : toOld(line)));
    if (join2(old) === join2(before.slice(start, start + lines.length)) && lineEnd === "\n" && mayBeRefused)
      return undefined;
    const after = [...before.slice(0, start), ...put, ...before.slice(start + lines.length)];
    const edits = [{ old_string: join2(old), new_string: join2(changed.map(toOld)) }];
    return { before: join2(before, lineEnd), edits, after: join2(after, lineEnd), mayBeRefused };
  };
}

/** An edit of these lines, one of which it changes; it must be refused. */
function toRefused(before: readonly string[], old: readonly string[], random: (below: number) => number) {
  const edits = [{ old_string: join2(old), new_string: join2(change(old, random)) }];
  return { before: join2(before), edits, after: undefined, mayBeRefused: true };
}

const quotes: readonly (readonly [RegExp, string])[] = [
  [/"/g, "\u201c"],
  [/'/g, "\u2019"],
  [/-/g, "\u2013"],
  [/\.\.\./g, "\u2026"],
];
const toTypographic = (line: string): string => quotes.reduce((text, [from, to]) => text.replaceAll(from, to), line);
const addMarks = (line: string, form: "NFC" | "NFD"): string =>
  line.replaceAll(/[aeou]/g, (letter) => `${letter}\u0308`.normalize(form));
const indent = (line: string): number => /^\s*/.exec(line)![0].length;

const kinds: Readonly<Record<string, Kind>> = {
  exact: toVariant({ mayBeRefused: false }),
  "CRLF in the file": toVariant({ lineEnd: "\r\n", mayBeRefused: false }),
  "trailing blanks in the file": toVariant({ toFile: (line, isInside) => (isInside ? `${line}  ` : line) }),
  "trailing blanks in the edit": toVariant({ toOld: (line) => `${line} \t` }),
  "indentation left out": (snippet, random) => {
    const least = Math.min(...snippet.lines.filter((line) => line.trim() !== "").map(indent));
    return least === 0 ? undefined : toVariant({ toOld: (line) => line.slice(least) })(snippet, random);
  },
  "indentation deeper": toVariant({ toOld: (line) => (line === "" ? line : `    ${line}`) }),
  "tabs in the file, blanks in the edit": (snippet, random) => {
    const isIndented = snippet.lines.every((line) => line.startsWith("  ") || line === "");
    const toFile = (line: string): string => line.replace(/^(?: {2})+/, (blanks) => "\t".repeat(blanks.length / 2));
    return isIndented ? toVariant({ toFile })(snippet, random) : undefined;
  },
  "typographic characters in the file": toVariant({ toFile: toTypographic }),
  "typographic characters in the edit": toVariant({ toOld: toTypographic }),
  "other unicode form": toVariant({
    toFile: (line, isInside) => (isInside ? addMarks(line, "NFC") : line),
    toOld: (line) => addMarks(line, "NFD"),
  }),
  "block that stands twice": ({ file, start, lines }, random) => {
    const at = random(start + 1);
    const before = [...file.lines.slice(0, at), ...lines, ...file.lines.slice(at)];
    return toRefused(before, lines, random);
  },
  "block that stands twice but for blanks": ({ file, start, lines }, random) => {
    const at = random(start + 1);
    const twin = lines.map((line) => (line.trim() === "" ? line : ` ${line} `));
    const old = lines.map((line) => (line.trim() === "" ? line : `  ${line}`));
    const before = [...file.lines.slice(0, at), ...twin, ...file.lines.slice(at)];
    return toRefused(before, old, random);
  },
  "a word that is not there": (snippet, random) => {
    const place = random(snippet.lines.length);
    const wrong = snippet.lines.map((line, index) => (index === place ? line.replace(/\w+/, "otherWord") : line));
    if (join2(wrong) === join2(snippet.lines)) return undefined;
    return toRefused(snippet.file.lines, wrong, random);
  },
  "a line left out": (snippet, random) => {
    if (snippet.lines.length < 3) return undefined;
    const short = snippet.lines.filter((_, index) => index !== 1);
    if (join2(snippet.file.lines).includes(join2(short))) return undefined;
    return toRefused(snippet.file.lines, short, random);
  },
  "stale file": (snippet, random) => {
    const refused = toRefused(snippet.file.lines, snippet.lines, random);
    return { ...refused, changedTo: refused.before.replaceAll(join2(snippet.lines), "changed by another") };
  },
  "several edits": (snippet) => {
    const [first, second] = [snippet.lines[0]!, snippet.lines.at(-1)!];
    const text = join2(snippet.file.lines);
    if (
      first === second ||
      !isUnique(text, first) ||
      !isUnique(text, second) ||
      first.includes(second) ||
      second.includes(first)
    )
      return undefined;
    const put = [...snippet.lines];
    put[0] = `${first} one`;
    put[put.length - 1] = `${second} two`;
    const edits = [
      { old_string: second, new_string: `${second} two` },
      { old_string: first, new_string: `${first} one` },
    ];
    return { before: text, edits, after: join2(splice(snippet, put)), mayBeRefused: false };
  },
  "edits that overlap": (snippet) => {
    const text = join2(snippet.file.lines);
    const old = join2(snippet.lines);
    // The first one takes away what the second one quotes.
    const edits = [
      { old_string: old, new_string: `changed ${old}`.replace(snippet.lines[1]!, "another line") },
      { old_string: old, new_string: join2(snippet.lines.toReversed()) },
    ];
    if (snippet.lines[1]!.trim() === "" || edits[0]!.new_string.includes(old)) return undefined;
    return { before: text, edits, after: undefined, mayBeRefused: true };
  },
  "block taken out": (snippet) => {
    const before = join2(snippet.file.lines);
    const old = `${join2(snippet.lines)}\n`;
    if (!isUnique(before, old)) return undefined;
    return {
      before,
      edits: [{ old_string: old, new_string: "" }],
      after: join2(splice(snippet, [])),
      mayBeRefused: false,
    };
  },
  "every place of a word": (snippet) => {
    const word = /[A-Za-z]{5,}/.exec(snippet.lines[0]!)?.[0];
    if (word === undefined) return undefined;
    const before = join2(snippet.file.lines);
    const edits = [{ old_string: word, new_string: `${word}X`, replace_all: true }];
    return { before, edits, after: before.replaceAll(word, `${word}X`), mayBeRefused: false };
  },
};

/** The cases: `perKind` of each kind. */
export function createEditCorpus(perKind: number, seed = 20_260_223): EditCase[] {
  const next = createRandom(seed);
  const random = (below: number): number => Math.floor(next() * below);
  const sources = readSources();
  return Object.entries(kinds).flatMap(([kind, create]) => {
    const cases: EditCase[] = [];
    for (let tries = 0; cases.length < perKind && tries < perKind * 200; tries += 1) {
      const file = sources[random(sources.length)]!;
      const count = 2 + random(5);
      const start = random(file.lines.length - count);
      const lines = file.lines.slice(start, start + count);
      const isPlain = lines[0]!.trim() !== "" && lines.at(-1)!.trim() !== "" && join2(lines).length < 2000;
      if (!isPlain || !isUnique(join2(file.lines), join2(lines))) continue;
      const made = create({ file, start, lines }, random);
      if (made) cases.push({ kind, source: `${file.name}:${start + 1}`, ...made });
    }
    return cases;
  });
}
