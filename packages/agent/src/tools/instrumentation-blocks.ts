/**
 * Instrumentation in the text of a file: whole lines between two comments that name the block, so that removing it
 * restores the exact text.
 */
import { toLanguage } from "@sheaf/documents/text";

const BEGIN = "sheaf-debug:begin";
const END = "sheaf-debug:end";

/** What is inserted. */
export interface BlockInsertion {
  /** Letters, digits, `_` and `-`. */
  readonly id: string;
  /** Without marks. */
  readonly code: string;
  readonly form: CommentForm;
  readonly lineEnd: "\n" | "\r\n";
}

/** The text with the block before the line that begins at `offset`, or after the last line. */
export function insertBlock(text: string, offset: number, { id, code, form, lineEnd }: BlockInsertion): string {
  const lines = code
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd()
    .split(/\r?\n/);
  const indentation = /^\s*/.exec(lines[0]!)![0];
  const mark = (word: string): string => `${indentation}${[form.open, word, id, form.close].join(" ").trimEnd()}`;
  const block = [mark(BEGIN), ...lines, mark(END)].join(lineEnd);
  const head = text.slice(0, offset);
  // If the last line has no line end, neither does the block.
  const isOpenEnd = offset === text.length && head !== "" && !head.endsWith("\n");
  return isOpenEnd ? `${head}${lineEnd}${block}` : `${head}${block}${lineEnd}${text.slice(offset)}`;
}

/** A text without its blocks. */
export interface RemovedBlocks {
  readonly text: string;
  readonly removed: readonly string[];
  /** None of their marks was found: they are already gone. */
  readonly missing: readonly string[];
  /** One mark is missing, or they are in the wrong order: they are left unchanged. */
  readonly damaged: readonly string[];
}

/** Removes blocks. */
export function removeBlocks(text: string, ids: readonly string[]): RemovedBlocks {
  const result = { text, removed: [] as string[], missing: [] as string[], damaged: [] as string[] };
  for (const id of ids) {
    const begin = findLine(result.text, `${BEGIN} ${id}`);
    const end = findLine(result.text, `${END} ${id}`);
    if (begin && end && begin.start < end.start) {
      const isOpenEnd = end.next === result.text.length && !result.text.endsWith("\n");
      const head = result.text.slice(0, begin.start);
      result.text = (isOpenEnd ? head.replace(/\r?\n$/, "") : head) + result.text.slice(end.next);
      result.removed.push(id);
    } else {
      (begin || end ? result.damaged : result.missing).push(id);
    }
  }
  return result;
}

/** Whether a text contains a mark. */
export function hasMark(text: string): boolean {
  return text.includes(BEGIN) || text.includes(END);
}

/** The line of a mark: where it begins, and where the next one does. */
function findLine(text: string, mark: string): { readonly start: number; readonly next: number } | undefined {
  for (let place = text.indexOf(mark); place !== -1; place = text.indexOf(mark, place + 1)) {
    // The id of another block may begin with this one.
    if (/[\w-]/.test(text.charAt(place + mark.length))) continue;
    const lineEnd = text.indexOf("\n", place);
    const start = place === 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1;
    return { start, next: lineEnd === -1 ? text.length : lineEnd + 1 };
  }
  return undefined;
}

/** What comes before and after the text of a comment. */
export interface CommentForm {
  readonly open: string;
  readonly close: string;
}

const languagesByOpening: Readonly<Record<string, string>> = {
  "//":
    "c cpp csharp cuda d dart fsharp glsl go gradle groovy haxe hlsl java javascript json5 jsonc jsx kotlin less " +
    "objective-cpp php prisma protobuf rescript rust scala scss solidity swift systemverilog thrift tsx typescript v " +
    "wgsl zig",
  "#":
    "awk bash cmake coffeescript crystal dockerfile elixir fish gdscript graphql hcl julia just makefile nginx nim nix " +
    "perl powershell properties puppet python r rego ruby starlark tcl toml yaml zsh",
  "--": "ada elm haskell lua purescript sql vhdl",
  "%": "erlang latex matlab prolog",
  ";": "asm clojure ini lisp racket scheme",
  "!": "fortran",
  '"': "vim",
};

const forms: ReadonlyMap<string, CommentForm> = new Map([
  ...Object.entries(languagesByOpening).flatMap(([open, languages]) =>
    languages.split(" ").map((language): [string, CommentForm] => [language, { open, close: "" }]),
  ),
  ["css", { open: "/*", close: "*/" }],
  ["ocaml", { open: "(*", close: "*)" }],
  ["html", { open: "<!--", close: "-->" }],
  ["xml", { open: "<!--", close: "-->" }],
  ["markdown", { open: "<!--", close: "-->" }],
]);

/** By the name of the file; undefined for a language without comments, with several forms, or that is not known. */
export function findCommentForm(filePath: string): CommentForm | undefined {
  return forms.get(toLanguage(filePath));
}
