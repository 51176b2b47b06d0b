/**
 * The syntax tree of a shell command as a reading. The parser alone is not trusted: every character must be in a token of
 * a known kind, and every gap between tokens must be one that bash sees too. So a mistake in the parser's grammar makes a
 * command unknown, not allowed.
 */
import type { TreeCursor } from "web-tree-sitter";
import type { ShellReading, ShellResult, ShellWord } from "./shell-reading.ts";

/** Nodes that contain others. */
const structures: ReadonlySet<string> = new Set([
  "program", "list", "pipeline", "command", "command_name", "subshell", "compound_statement", "negated_command",
  "redirected_statement",
]); // prettier-ignore
const words: ReadonlySet<string> = new Set(["word", "number", "string", "raw_string", "concatenation"]);
const operators: ReadonlySet<string> = new Set(["&&", "||", "|", "|&", ";", "(", ")", "{", "}", "!"]);

/** Words that begin something other than a command, unless they are quoted. */
const reserved: ReadonlySet<string> = new Set([
  "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then", "until", "while",
]); // prettier-ignore

/** Redirections that reach no file: to and from /dev/null, and of one output into the other. */
const harmlessRedirection = /^(?:[12]?>>?[ \t]*\/dev\/null|&>>?[ \t]*\/dev\/null|[12]?>&[12]|0?<[ \t]*\/dev\/null)$/;

/** What precedes a token, apart from its gap. */
type Last = "start" | "operator" | "opening" | "closing" | "word" | "redirection" | "comment";

const problems: Readonly<Record<string, string>> = {
  ansi_c_string: "a quoted text of bash's own kind ($'…')",
  arithmetic_expansion: "arithmetic",
  case_statement: "a case",
  command_substitution: "a command in another one ($(…))",
  declaration_command: "a declaration of variables",
  expansion: "a variable",
  for_statement: "a loop",
  function_definition: "a function",
  heredoc_redirect: "a here-document",
  herestring_redirect: "a here-string",
  if_statement: "a condition",
  process_substitution: "a process substitution",
  simple_expansion: "a variable",
  test_command: "a test in brackets",
  variable_assignment: "a variable that is set",
  variable_assignments: "a variable that is set",
  while_statement: "a loop",
  "&": "a command in the background",
};

/** The reading of a tree without errors; `cursor` is at its root. */
export function readTree(cursor: TreeCursor, source: string): ShellResult {
  const reader = new TreeReader(source);
  const problem = visitTree(cursor, reader) ?? reader.end();
  return problem === undefined ? { ok: true, reading: reader.reading } : { ok: false, problem };
}

/** Passes tokens to the reader, left to right; returns the problem that ended it. Not recursive: the model decides the depth. */
function visitTree(cursor: TreeCursor, reader: TreeReader): string | undefined {
  for (;;) {
    const type = cursor.nodeType;
    if (structures.has(type)) {
      if (type === "command") reader.startCommand();
      if (cursor.gotoFirstChild()) continue;
    } else {
      const problem = reader.readToken(type, cursor.startIndex, cursor.endIndex);
      if (problem !== undefined) return problem;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return undefined;
      if (cursor.nodeType === "command") reader.endCommand();
    }
  }
}

class TreeReader {
  readonly #source: string;
  readonly #commands: ShellWord[][] = [];
  readonly #connectors: string[] = [];
  #words: ShellWord[] | undefined;
  /** A redirection precedes the first word. */
  #isRedirected = false;
  #last: Last = "start";
  /** Where the last token ends. UTF-16 units. */
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get reading(): ShellReading {
    const [first = "&&", ...rest] = this.#connectors;
    const isChain = first === "&&" && rest.every((connector) => /^(?:&&|\|&?)$/.test(connector));
    return { commands: this.#commands, isChain };
  }

  startCommand(): void {
    this.#words = [];
    this.#isRedirected = false;
  }

  endCommand(): void {
    if (this.#words && this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = undefined;
  }

  /** What is wrong with a token; undefined: nothing. */
  readToken(type: string, start: number, end: number): string | undefined {
    const gap = this.#source.slice(this.#at, start);
    const raw = this.#source.slice(start, end);
    this.#at = end;
    const separation = toSeparation(gap);
    if (!separation) return "blanks of an unusual kind";
    if (words.has(type)) return this.#readWord(raw, separation);
    if (type === "file_redirect") return this.#readRedirection(raw, separation);
    if (type === "comment") return this.#readComment(raw, separation);
    if (operators.has(type) && raw === type) return this.#readOperator(raw, separation);
    return problems[type] ?? "a form of the shell that is not known";
  }

  /** After the last token: what is wrong there, if anything. */
  end(): string | undefined {
    this.endCommand();
    const isOpen = this.#last === "opening" || (this.#last === "operator" && this.#connectors.at(-1) !== ";");
    if (isOpen || !toSeparation(this.#source.slice(this.#at))) return "an end that is none";
    return this.#commands.length === 0 ? "no command" : undefined;
  }

  #readWord(raw: string, separation: Separation): string | undefined {
    if (!this.#words) return "a word outside of a command";
    const isFirst = this.#words.length === 0;
    const mayStand = isFirst && !this.#isRedirected ? this.#mayBegin(separation) : separation === "blank";
    const word = readWord(raw);
    if (!mayStand) return "words that touch one another";
    if (!word)
      return /[$`]/.test(raw) ? "a variable or a command in a word" : "wildcards or signs that the shell changes";
    if (isFirst && (word.isGlob || word.text === "" || word.text.includes("=")))
      return "a program that is not named plainly";
    if (isFirst && reserved.has(raw)) return `the word ${raw} of the shell`;
    if (isFirst && !this.#isRedirected) this.#noteNewline(separation);
    this.#words.push(word);
    this.#last = "word";
    return undefined;
  }

  #readRedirection(raw: string, separation: Separation): string | undefined {
    if (!harmlessRedirection.test(raw)) return "a redirection";
    const isFirst = this.#words?.length === 0;
    const isSeparate = isFirst && !this.#isRedirected ? this.#mayBegin(separation) : separation !== "newline";
    // A number that touches a word is a part of it.
    if (!isSeparate || (separation === "none" && /^\d/.test(raw))) return "a redirection";
    if (isFirst) {
      if (!this.#isRedirected) this.#noteNewline(separation);
      this.#isRedirected = true;
    }
    this.#last = "redirection";
    return undefined;
  }

  #readComment(raw: string, separation: Separation): string | undefined {
    const isAtStart = this.#last === "start" && separation === "none";
    if ((!isAtStart && separation === "none") || raw.includes("\n") || this.#words) return "a comment";
    if (separation === "newline") this.#noteNewline(separation);
    this.#last = "comment";
    return undefined;
  }

  #readOperator(raw: string, separation: Separation): string | undefined {
    const fault = "operators that touch one another";
    const before = this.#last;
    if (raw === "(" || raw === "{" || raw === "!") {
      if (!this.#mayBegin(separation) || (raw === "(" && before === "opening" && separation === "none")) return fault;
      this.#noteNewline(separation);
      this.#connectors.push(raw);
      this.#last = "opening";
      // Reserved words must be followed by a blank.
      const next = this.#source[this.#at] ?? "";
      return raw === "(" || /[ \t\n]/.test(next) ? undefined : fault;
    }
    if (raw === ")" || raw === "}") {
      if (raw === "}" && before !== "operator" && separation !== "newline") return fault;
      this.#connectors.push(raw);
      this.#last = "closing";
      return undefined;
    }
    const mayFollow = before === "word" || before === "redirection" || before === "closing";
    if (!mayFollow || separation === "newline") return fault;
    this.#connectors.push(raw);
    this.#last = "operator";
    return undefined;
  }

  /** Whether a command may begin here, as bash sees it. */
  #mayBegin(separation: Separation): boolean {
    switch (this.#last) {
      case "start":
      case "operator":
      case "opening":
        return true;
      default:
        return separation === "newline";
    }
  }

  #noteNewline(separation: Separation): void {
    const isEnd = this.#last === "word" || this.#last === "redirection" || this.#last === "closing";
    if (separation === "newline" && (isEnd || this.#last === "comment")) this.#connectors.push("\n");
  }
}

type Separation = "none" | "blank" | "newline";

/**
 * How a gap separates. Bash removes a line end after a backslash, so that alone must not separate two tokens. Undefined
 * for anything that bash does not see as a gap.
 */
function toSeparation(gap: string): Separation | undefined {
  if (gap === "") return "none";
  const seen = gap.replaceAll("\\\n", "");
  if (seen === "" || !/^[ \t\n]+$/.test(seen)) return undefined;
  return seen.includes("\n") ? "newline" : "blank";
}

/** ASCII that means nothing to the shell within a word. */
const plain = /[A-Za-z0-9_./:@%+=,^#-]/;
const wildcard = /[*?[\]]/;
/** Characters that a backslash in double quotes protects. */
const escapable = /[$`"\\]/;

/** The word, or undefined if the shell would change it. Takes linear time. */
function readWord(raw: string): ShellWord | undefined {
  let text = "";
  let isGlob = false;
  for (let at = 0; at < raw.length;) {
    const character = raw[at]!;
    if (character === "'" || character === '"') {
      const quoted = readQuoted(raw, at);
      if (!quoted) return undefined;
      text += quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      const next = raw[at + 1];
      if (next === undefined || !/[\x20-\x7e]/.test(next)) return undefined;
      text += next;
      at += 2;
    } else {
      if (wildcard.test(character)) isGlob = true;
      else if (!isPlain(raw, at)) return undefined;
      text += character;
      at += 1;
    }
  }
  // A leading wildcard matches any file name, including one that looks like an option.
  return isGlob && /^[*?[\]-]/.test(text) ? undefined : { text, isGlob };
}

/** The text between quotes that begin at `start`, and where they end. */
function readQuoted(raw: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const quote = raw[start];
  if (quote === "'") {
    const end = raw.indexOf("'", start + 1);
    return end < 0 ? undefined : { text: raw.slice(start + 1, end), end: end + 1 };
  }
  let text = "";
  for (let at = start + 1; at < raw.length; at += 1) {
    const character = raw[at]!;
    if (character === '"') return { text, end: at + 1 };
    if (character === "$" || character === "`") return undefined;
    if (character === "\\" && raw[at + 1] === "\n") return undefined;
    if (character === "\\" && escapable.test(raw[at + 1] ?? "")) at += 1;
    text += raw[at];
  }
  return undefined;
}

/** Whether an unquoted character means itself. */
function isPlain(raw: string, at: number): boolean {
  const character = raw[at]!;
  // It begins a comment.
  if (character === "#" && at === 0) return false;
  if (plain.test(character)) return true;
  // A tilde at the beginning, or where a value begins, is a user's home folder.
  if (character === "~") return at > 0 && !/[:=]/.test(raw[at - 1]!);
  return character > "\u007f" && !isSplitBySomeShells(raw, at);
}

/** Some systems treat the bytes 85 and A0 as blanks, even inside a character of several bytes. */
function isSplitBySomeShells(raw: string, at: number): boolean {
  const code = raw.codePointAt(at)!;
  const bytes = [code & 0x3f, (code >> 6) & 0x3f, (code >> 12) & 0x3f];
  return bytes.some((bits) => bits === 0x05 || bits === 0x20);
}
