/** Rules for finding: text in files, files by name, folders. */
import type { Intent } from "./intent.ts";
import { findFolder, findPaths, toGlob } from "./intent-files.ts";
import type { Reading, RestWord } from "./reading.ts";

/** File kinds that have a name: "all TypeScript files". */
const namedKinds = new Map([
  ["typescript", "*.{ts,tsx,mts,cts}"],
  ["javascript", "*.{js,jsx,mjs,cjs}"],
  ["python", "*.py"],
  ["markdown", "*.{md,mdx}"],
  ["json", "*.json"],
  ["yaml", "*.{yml,yaml}"],
  ["rust", "*.rs"],
  ["java", "*.java"],
  ["css", "*.{css,scss}"],
  ["html", "*.{html,htm}"],
  ["golang", "*.go"],
  ["shell", "*.sh"],
]);

/** "find all *.ts files", "find package.json". */
export function toFindFiles(reading: Reading): Intent | undefined {
  if (!reading.has("find", "list", "where", "show")) return undefined;
  const folder = findFolder(reading);
  const place = folder === undefined ? {} : { folder };
  const term = findTerm(reading, folder);
  const pattern = reading.mentions.find(({ kind }) => kind === "glob" || kind === "extension");
  if (pattern && term === undefined) {
    const glob = pattern.kind === "extension" ? `*.${pattern.text}` : pattern.text;
    return { kind: "find_files", pattern: toGlob(glob), ...place };
  }
  const kind = reading.restWords
    .map(({ text }) => namedKinds.get(text.toLowerCase()))
    .find((glob) => glob !== undefined);
  if (kind !== undefined && reading.has("files")) return { kind: "find_files", pattern: toGlob(kind), ...place };
  if (!reading.has("find", "where")) return undefined;
  if (term !== undefined && reading.has("named") && reading.has("file", "files")) {
    return { kind: "find_files", pattern: `**/*${term.replaceAll(/[*?[\]{}]/g, "")}*`, ...place };
  }
  const [path] = findPaths(reading);
  if (path && term === undefined && !path.doubtful) return { kind: "find_files", pattern: `**/${path.text}`, ...place };
  if (pattern || !reading.has("tests") || reading.restWords.length > 0 || !reading.has("files", "file"))
    return undefined;
  return { kind: "find_files", pattern: "**/*test*", ...place };
}

/** "find TODO in src", "where is createServer defined?". */
export function toFindText(reading: Reading): Intent | undefined {
  if (!reading.has("find", "where", "used")) return undefined;
  const folder = findFolder(reading);
  const term = findTerm(reading, folder);
  if (!reading.has("find", "where") && !(term !== undefined && isIdentifier(term))) return undefined;
  const path = findPaths(reading).find((mention) => !mention.doubtful && mention.text !== term);
  const glob = reading.mentions.find(({ kind }) => kind === "glob" || kind === "extension");
  const pattern = glob && (glob.kind === "extension" ? `*.${glob.text}` : glob.text);
  const place = {
    ...((path ?? folder) !== undefined && { folder: path?.text ?? folder ?? "." }),
    ...(pattern !== undefined && { glob: pattern }),
  };
  const isDefinition = reading.has("define") || (reading.has("where") && !reading.has("find", "used"));
  const details = { ...place, ...(isDefinition && { isDefinition: true as const }) };
  if (term !== undefined) return { kind: "find_text", term, ...details };
  return { kind: "missing", what: "term", fill: (answer) => ({ kind: "find_text", term: answer, ...details }) };
}

/** "list the files", "ls". */
export function toList(reading: Reading): Intent | undefined {
  const folder = findFolder(reading);
  const isAboutFiles = reading.has("files", "folder", "file") || (folder !== undefined && reading.has("list"));
  const isBare = reading.has("list") && reading.restWords.length === 0 && reading.mentions.length === 0;
  if (!(reading.has("list", "show", "about") && isAboutFiles) && !isBare) return undefined;
  if (findPaths(reading).length > 0) return undefined;
  if (reading.has("file") && !reading.has("files", "folder", "list") && folder === undefined) return undefined;
  return { kind: "list_folder", folder: folder ?? "." };
}

/** "explain the project structure", "what is this project?". */
export function toLayout(reading: Reading): Intent | undefined {
  if (findPaths(reading).length > 0) return undefined;
  const isAsked = reading.has("explain", "about", "summarise", "summary", "show", "review", "read", "list");
  const isAboutProject = reading.has("project") && isAsked && !reading.has("find", "where");
  if (!reading.has("structure") && !isAboutProject) return undefined;
  if (reading.has("structure") && !isAsked && reading.restWords.length > 2) return undefined;
  return { kind: "explain_layout", folder: findFolder(reading) ?? "." };
}

/** What is searched for: a quotation, a name that looks like code, or the words that are left. */
function findTerm(reading: Reading, folder: string | undefined): string | undefined {
  const quote = reading.mentions.find(({ kind, text }) => kind === "quote" && text.trim() !== "");
  if (quote) return quote.text;
  const words = reading.restWords.filter(({ text }) => text !== folder && !/^\d+$/.test(text));
  const code = words.find((word) => !word.isCjk && isIdentifier(word.text));
  if (code) return code.text;
  const doubtful = reading.mentions.find(({ doubtful: isDoubtful }) => isDoubtful === true);
  if (doubtful) return doubtful.text;
  const kinds = new Set(namedKinds.keys());
  const others = words.filter(({ text }) => !(kinds.has(text.toLowerCase()) && reading.has("files")));
  return toPhrase(reading, others);
}

/** `createServer`, `MAX_SIZE`, `TODO`, `snake_case`. */
function isIdentifier(word: string): boolean {
  return /[a-z0-9][A-Z]/.test(word) || /\p{L}_|_\p{L}|\$/u.test(word) || /^[A-Z][A-Z0-9]{2,}$/.test(word);
}

/** The first words that stand side by side, as they were written. */
function toPhrase(reading: Reading, words: readonly RestWord[]): string | undefined {
  const [first] = words;
  if (!first) return undefined;
  let last = first;
  for (const word of words.slice(1)) {
    if (word.place - last.place > 1) break;
    last = word;
  }
  const phrase = reading.prompt.masked.slice(first.maskedAt, last.maskedAt + last.text.length).trim();
  return phrase === "" ? undefined : phrase;
}
