/** Source code: what it declares, what it says of itself, what is left open in it. */
import { toCounts, toSection, type Digest, type DigestEntry } from "./digest.ts";
import { cutText, toSentences } from "./sentences.ts";

/** Longer lines are generated code; no pattern looks at them. */
const lineLimit = 400;
const readLimit = 12_000;
const memberLimit = 20;
const findingLimit = 12;

interface CodeLanguage {
  /** Group 1 is the kind, group 2 the name. */
  readonly members: readonly RegExp[];
  /** Group 1 is the module. */
  readonly imports: readonly RegExp[];
  /** A line without one of them imports nothing. */
  readonly importWords: readonly string[];
  /** Deeper lines declare nothing that counts. */
  readonly indent?: number;
  readonly lineComment: string;
  readonly hasBlockComments: boolean;
}

const cLike = { lineComment: "//", hasBlockComments: true };

const script: CodeLanguage = {
  ...cLike,
  members: [
    /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(function|class|interface|type|enum|const|let|var|namespace)\*?\s+([\w$]+)/,
    /^(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(function|class|interface|enum)\*?\s+([\w$]+)/,
    /^(const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\(|function\b|[\w$]+\s*=>)/,
    /^(module\.exports|exports)\.([\w$]+)\s*=/,
    /^(module\.exports)\s*=\s*([\w$]+)/,
  ],
  imports: [
    /^(?:import|export)\b.{0,300}?\bfrom\s+["']([^"']+)["']/,
    /^import\s+["']([^"']+)["']/,
    /\brequire\(["']([^"']+)["']\)/,
  ],
  importWords: ["import", "from", "require("],
};

const languages: Readonly<Record<string, CodeLanguage>> = {
  script,
  python: {
    members: [/^(?:async\s+)?(def|class)\s+(\w+)/],
    imports: [/^from\s+([\w.]+)\s+import\b/, /^import\s+([\w.]+)/],
    importWords: ["import"],
    lineComment: "#",
    hasBlockComments: false,
  },
  go: {
    ...cLike,
    members: [/^(func)\s+(?:\([^)]{0,80}\)\s*)?(\w+)/, /^(type)\s+(\w+)/],
    imports: [/^\s*(?:import\s+)?(?:\w+\s+)?"([\w./-]+)"\s*$/],
    importWords: ['"'],
  },
  rust: {
    ...cLike,
    members: [
      /^(?:pub(?:\([^)]{1,40}\))?\s+)?(?:async\s+|unsafe\s+|const\s+)?(fn|struct|enum|trait|mod|type|union)\s+(\w+)/,
      /^(macro_rules!)\s*(\w+)/,
    ],
    imports: [/^(?:pub\s+)?use\s+([\w:]+)/],
    importWords: ["use"],
  },
  java: {
    ...cLike,
    members: [
      /^\s{0,4}(?:(?:public|protected|private|internal|static|final|abstract|sealed|data|open|override|partial|async)\s+){0,6}(class|interface|enum|record|object|struct|trait|fun)\s+(\w+)/,
      /^\s{2,8}(public)\s+(?:(?:static|final|async|override|virtual|abstract)\s+){0,4}[\w<>[\],.?]{1,80}\s+(\w+)\s*\(/,
    ],
    imports: [/^(?:import|using)\s+(?:static\s+)?([\w.*]+)/],
    importWords: ["import", "using"],
    indent: 8,
  },
  c: {
    ...cLike,
    members: [
      /^(?:typedef\s+)?(struct|enum|union|class|namespace)\s+(\w+)/,
      /^(#define)\s+(\w+)/,
      /^[A-Za-z_][\w\s*&:<>,]{0,80}?[\s*&]()(\w+)\s*\([^;]{0,200}$/,
    ],
    imports: [/^#include\s+[<"]([^>"]+)[>"]/],
    importWords: ["#include"],
  },
  ruby: {
    members: [/^\s{0,4}(def|class|module)\s+([\w.?!:]+)/],
    imports: [/^require(?:_relative)?\s+["']([^"']+)["']/],
    importWords: ["require"],
    indent: 4,
    lineComment: "#",
    hasBlockComments: false,
  },
  php: {
    ...cLike,
    members: [
      /^\s{0,4}(?:(?:public|protected|private|static|final|abstract)\s+){0,4}(function|class|interface|trait|enum)\s+(\w+)/,
    ],
    imports: [/^use\s+([\w\\]+)/],
    importWords: ["use"],
    indent: 4,
  },
  shell: {
    members: [/^(function)\s+([\w-]+)/, /^()([\w-]+)\s*\(\)\s*\{?/],
    imports: [/^(?:source|\.)\s+(\S+)/],
    importWords: ["source", ". "],
    lineComment: "#",
    hasBlockComments: false,
  },
};

const byExtension: Readonly<Record<string, string>> = {
  ts: "script",
  tsx: "script",
  mts: "script",
  cts: "script",
  js: "script",
  jsx: "script",
  mjs: "script",
  cjs: "script",
  vue: "script",
  svelte: "script",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  kt: "java",
  kts: "java",
  cs: "java",
  scala: "java",
  swift: "java",
  c: "c",
  h: "c",
  cc: "c",
  cpp: "c",
  cxx: "c",
  hpp: "c",
  m: "c",
  rb: "ruby",
  php: "php",
  sh: "shell",
  bash: "shell",
  zsh: "shell",
};

/** The language of a file by its extension; undefined when it is no code that these rules know. */
export function findCodeLanguage(extension: string): string | undefined {
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/** A digest of source code; of a very long text its first lines. */
export function createCodeDigest(all: readonly string[], characters: number, language: string): Digest {
  const lines = all.length > readLimit ? all.slice(0, readLimit) : all;
  const rules = languages[language] ?? script;
  const { comments, notes } = readComments(lines, rules);
  const members = findMembers(lines, rules, notes);
  const exported = members.filter(({ isExported }) => isExported);
  const hasExports = language === "script" && exported.length > 0;
  const shown = hasExports ? exported : members;
  return {
    purpose: findTopComment(lines, rules, language),
    points: [],
    outline: [],
    commands: [],
    sections: [
      ...toSection(
        hasExports ? "exports" : "members",
        shown.map(({ entry }) => entry),
        memberLimit,
      ),
      ...toSection("imports", findImports(lines, rules), memberLimit),
      ...toSection("findings", findOpenEnds(lines), findingLimit),
    ],
    counts: toCounts(
      ["lines", all.length],
      ["characters", characters],
      ["members", members.length],
      ["comments", comments],
    ),
    ...(lines.length < all.length && { readLines: { read: lines.length, total: all.length } }),
  };
}

interface Member {
  readonly entry: DigestEntry;
  readonly isExported: boolean;
}

function findMembers(lines: readonly string[], rules: CodeLanguage, notes: ReadonlyMap<number, string>): Member[] {
  const members: Member[] = [];
  const seen = new Set<string>();
  const indent = rules.indent ?? 0;
  lines.forEach((line, index) => {
    if (line.length > lineLimit || isDeeper(line, indent)) return;
    for (const pattern of rules.members) {
      const match = pattern.exec(line);
      const name = match?.[2];
      if (!match || name === undefined || /^(?:if|for|while|switch|return|else|catch)$/.test(name)) continue;
      const kind = match[1] ?? "";
      const note = notes.get(index);
      if (!seen.has(`${kind} ${name}`)) {
        const entry = {
          text: `${kind === "" ? "" : `${kind} `}${name}`,
          isCode: true as const,
          line: index + 1,
          ...(note !== undefined && { note }),
        };
        members.push({
          entry,
          isExported: line.startsWith("export") || line.startsWith("module.exports") || line.startsWith("exports"),
        });
      }
      seen.add(`${kind} ${name}`);
      break;
    }
  });
  return members;
}

function isDeeper(line: string, indent: number): boolean {
  let depth = 0;
  while (depth <= indent && (line.charCodeAt(depth) === 0x20 || line.charCodeAt(depth) === 0x09)) depth += 1;
  return depth > indent;
}

/** Counts lines of comments, and keeps the first sentence of each comment that stands right above a line. */
function readComments(lines: readonly string[], rules: CodeLanguage): { comments: number; notes: Map<number, string> } {
  const notes = new Map<number, string>();
  let comments = 0;
  let open: string[] = [];
  let isInBlock = false;
  lines.forEach((line, index) => {
    const trimmed = line.slice(0, lineLimit).trim();
    const startsBlock = rules.hasBlockComments && !isInBlock && trimmed.startsWith("/*");
    if (isInBlock || startsBlock || trimmed.startsWith(rules.lineComment)) {
      comments += 1;
      if (startsBlock) open = [];
      open.push(toCommentText(trimmed, rules.lineComment));
      isInBlock = (isInBlock || startsBlock) && !trimmed.includes("*/");
      return;
    }
    if (trimmed.startsWith("@") || trimmed.startsWith("#[")) return;
    const note = open.length > 0 ? toFirstSentence(open) : "";
    if (note !== "" && trimmed !== "") notes.set(index, note);
    open = [];
  });
  return { comments, notes };
}

function toFirstSentence(lines: readonly string[]): string {
  const text = lines
    .filter((line) => !line.startsWith("@"))
    .join(" ")
    .trim();
  const [first] = toSentences(text.slice(0, 600));
  return first === undefined || !/\p{L}{2}/u.test(first) ? "" : cutText(first, 160);
}

function toCommentText(line: string, lineComment: string): string {
  const text = line.startsWith(lineComment) ? line.slice(lineComment.length) : line;
  return text
    .replace(/^\/?\*{1,2}(?!\/)|^[/!]+/, "")
    .replace(/\*+\/.*$/, "")
    .trim();
}

/** The comment at the head of the file, without licence texts and tool directives. */
function findTopComment(lines: readonly string[], rules: CodeLanguage, language: string): string[] {
  if (language === "python") {
    const docstring = findDocstring(lines);
    if (docstring.length > 0) return docstring;
  }
  const texts: string[] = [];
  let isInBlock = false;
  for (const line of lines.slice(0, 120)) {
    const trimmed = line.slice(0, lineLimit).trim();
    const startsBlock = rules.hasBlockComments && trimmed.startsWith("/*");
    const isComment = isInBlock || startsBlock || trimmed.startsWith(rules.lineComment);
    const isDirective = /^(?:["']use \w+["'];?|<\?php|package\s|#!)/.test(trimmed);
    if (trimmed === "" && texts.length > 0 && !isInBlock) break;
    if (!isComment && trimmed !== "" && !isDirective) {
      // A comment right above a declaration speaks of that only.
      const isImport = rules.importWords.some((word) => trimmed.includes(word));
      return isImport ? toPurpose(texts) : [];
    }
    isInBlock = (isInBlock || startsBlock) && !trimmed.includes("*/");
    if (!isComment || isDirective) continue;
    const text = toCommentText(trimmed, rules.lineComment);
    if (text.startsWith("@") || /^(?:eslint|prettier|ts-|oxlint|-\*-|vim:|coding[:=]|noqa|pylint)/.test(text)) continue;
    texts.push(text);
  }
  return toPurpose(texts);
}

function toPurpose(lines: readonly string[]): string[] {
  const text = lines.join(" ").replaceAll(/\s+/g, " ").trim();
  const isLicence = /\b(?:copyright|licensed under|spdx-license-identifier|all rights reserved)\b/i.test(text);
  return text.length < 8 || isLicence ? [] : [cutText(text, 500)];
}

function findDocstring(lines: readonly string[]): string[] {
  const start = lines.slice(0, 30).findIndex((line) => /^[rubRUB]{0,2}(?:"""|''')/.test(line));
  if (start === -1 || lines.slice(0, start).some((line) => line.trim() !== "" && !line.startsWith("#"))) return [];
  const quote = (lines[start] ?? "").includes('"""') ? '"""' : "'''";
  const texts: string[] = [];
  for (const [offset, line] of lines.slice(start, start + 60).entries()) {
    const text = offset === 0 ? line.slice(line.indexOf(quote) + 3) : line;
    const end = text.indexOf(quote);
    texts.push((end === -1 ? text : text.slice(0, end)).trim());
    if (end !== -1) break;
    if (texts.length > 1 && text.trim() === "" && texts.some((entry) => entry !== "")) break;
  }
  return toPurpose(texts);
}

function findImports(lines: readonly string[], rules: CodeLanguage): DigestEntry[] {
  const modules = new Set<string>();
  for (const line of lines) {
    if (line.length > lineLimit || !rules.importWords.some((word) => line.includes(word))) continue;
    for (const pattern of rules.imports) {
      const name = pattern.exec(line)?.[1];
      if (name !== undefined) modules.add(name);
    }
  }
  return [...modules].map((text) => ({ text, isCode: true as const }));
}

/** Open TODOs, leftover debugging, very long lines. */
function findOpenEnds(lines: readonly string[]): DigestEntry[] {
  const findings: DigestEntry[] = [];
  lines.forEach((line, index) => {
    const finding = toOpenEnd(line);
    if (finding !== undefined) findings.push({ text: cutText(finding, 120), isCode: true, line: index + 1 });
  });
  return findings;
}

const openEndWords = ["TODO", "FIXME", "XXX", "HACK", "console.", "debugger", "breakpoint", "pdb", "var_dump", "dbg!"];

/** What is open in a line; undefined when nothing is. */
export function toOpenEnd(line: string): string | undefined {
  if (line.length > lineLimit || !openEndWords.some((word) => line.includes(word))) return undefined;
  const isOpen = /(?:\/\/|#|\*|<!--|--|;)\s{0,3}(?:TODO|FIXME|XXX|HACK)\b/.test(line);
  const isLeftover =
    /^\s{0,40}(?:console\.(?:log|debug)\(|debugger;?\s*$|breakpoint\(\)|import pdb|var_dump\(|dbg!\()/.test(line);
  return isOpen || isLeftover ? line.trim() : undefined;
}
