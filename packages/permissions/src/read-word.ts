/** Reads the words of a shell command as bash does: quotes, expansions, patterns. */
import { UNKNOWN, type ShellWord } from "./shell-reading.ts";

/** Thrown for a command that cannot be read. The message is the reason, in a few words. */
export class UnreadableError extends Error {}

interface Draft {
  text: string;
  isGlob: boolean;
  /** True if the shell splits the value of an expansion in it. */
  isSplit: boolean;
  /** Number of open, unquoted braces. */
  braces: number;
}

/** Most levels of quotes, expansions and substitutions inside each other. */
const MAX_DEPTH = 60;

/** Characters that end an unquoted word. */
const breaks = " \t\n;&|<>()";
/** Characters that a backslash in double quotes protects. */
const escapable = '$`"\\';
const lineContinuation = "\\\n";

const obstacles = {
  ansi: "a quoted text of bash's own kind ($'…')",
  arithmetic: "arithmetic",
  braces: "braces that the shell expands",
  process: "a process substitution",
  signs: "wildcards or signs that the shell changes",
  substitution: "a command in another one ($(…))",
  tilde: "a home folder (~)",
  variable: "a variable",
} as const;

/** Reads words from a place in a text. The reader of commands reads the inside of substitutions. */
export abstract class WordReader {
  protected readonly text: string;
  /** Position in the text. UTF-16 units. */
  protected at = 0;
  /** Number of substitutions around the text. */
  protected depth: number;

  protected constructor(text: string, depth: number) {
    this.text = text;
    this.depth = depth;
  }

  /** Notes a form that no allow rule can judge. */
  protected abstract note(obstacle: string): void;
  /** Reads the commands up to and with the closing parenthesis. */
  protected abstract readNested(): void;
  /** Reads the commands of a separate text. */
  protected abstract readText(text: string, depth: number): void;

  /** Reads a word that is not empty. */
  protected readWord(): ShellWord {
    const start = this.at;
    const draft: Draft = { text: "", isGlob: false, isSplit: false, braces: 0 };
    while (!this.isAtBreak()) this.#readPiece(draft, start);
    if (this.at === start) throw new UnreadableError("a missing word");
    if (draft.isGlob && /^[*?[\]-]/.test(draft.text)) this.note(obstacles.signs);
    const { isSplit } = draft;
    const isGlob = draft.isGlob && !/^[[\]]$/.test(draft.text);
    const source = this.text.slice(start, this.at);
    return { text: isSplit ? UNKNOWN : draft.text, isGlob, isMany: isGlob || isSplit, source };
  }

  protected isAtBreak(): boolean {
    const character = this.text[this.at];
    if (character === undefined) return true;
    if (!breaks.includes(character)) return false;
    return !((character === "<" || character === ">") && this.text[this.at + 1] === "(");
  }

  #readPiece(draft: Draft, start: number): void {
    const character = this.text[this.at]!;
    if (character === "'") draft.text += this.#readSingleQuoted();
    else if (character === '"') this.#readDoubleQuoted(draft);
    else if (character === "\\") this.#readEscape(draft);
    else if (character === "$") this.readDollar(draft, false);
    else if (character === "`") this.readBackticks(draft, false);
    else if (character === "~") this.#readTilde(draft, start);
    else if (character === "<" || character === ">") {
      this.note(obstacles.process);
      draft.text += `/dev/fd/${UNKNOWN}`;
      this.at += 2;
      this.#descend(() => this.readNested());
    } else this.#readPlain(draft, character);
  }

  #readPlain(draft: Draft, character: string): void {
    const isRange = character === "," || (character === "." && this.text[this.at + 1] === ".");
    if (draft.braces > 0 && isRange) {
      this.note(obstacles.braces);
      draft.isSplit = true;
    }
    if (character === "{") draft.braces += 1;
    if ("*?[]".includes(character)) draft.isGlob = true;
    if (character === "!") this.note(obstacles.signs);
    if (character > "\u007f" && isSplitBySomeShells(this.text.codePointAt(this.at)!)) {
      this.note(obstacles.signs);
      draft.isSplit = true;
    }
    draft.text += character;
    this.at += 1;
  }

  #readTilde(draft: Draft, start: number): void {
    const isHome = this.at === start || /[:=]/.test(this.text[this.at - 1]!);
    if (isHome) this.note(obstacles.tilde);
    draft.text += isHome ? UNKNOWN : "~";
    this.take(isHome ? /~[\w.+-]*/y : /~/y);
  }

  #readEscape(draft: Draft): void {
    if (this.text.startsWith(lineContinuation, this.at)) {
      this.take(/(?:\\\n)+/y);
      // Bash removes it before it looks for words, so `i\` and `f` would be the `if` of the shell.
      if (this.text[this.at] !== undefined && !" \t\n;&|)".includes(this.text[this.at]!)) {
        throw new UnreadableError("a word split over two lines");
      }
      return;
    }
    const next = this.text[this.at + 1];
    if (next === undefined) throw new UnreadableError("a backslash at the end");
    // Some systems mistake the second byte of a character for an unprotected blank.
    if (next > "\u007f") this.note(obstacles.signs);
    draft.text += next;
    this.at += 2;
  }

  #readSingleQuoted(): string {
    const end = this.text.indexOf("'", this.at + 1);
    if (end < 0) throw new UnreadableError("an unclosed quote");
    const content = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return content;
  }

  #readDoubleQuoted(draft: Draft): void {
    this.at += 1;
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) throw new UnreadableError("an unclosed quote");
      if (character === '"') break;
      this.readQuotedPiece(draft, escapable);
    }
    this.at += 1;
  }

  /** Reads one piece of a text in double quotes, or of a here-document. */
  protected readQuotedPiece(draft: Draft, escapes: string): void {
    const character = this.text[this.at]!;
    if (character === "$") this.readDollar(draft, true);
    else if (character === "`") this.readBackticks(draft, true);
    else if (this.text.startsWith(lineContinuation, this.at)) this.at += 2;
    else {
      if (character === "\\" && escapes.includes(this.text[this.at + 1] ?? "-")) this.at += 1;
      draft.text += this.text[this.at]!;
      this.at += 1;
    }
  }

  /** Reads a text in which only the commands matter. */
  protected readExpansions(): void {
    const draft: Draft = { text: "", isGlob: false, isSplit: false, braces: 0 };
    while (this.at < this.text.length) this.readQuotedPiece(draft, "$`\\");
  }

  /** Reads a form that starts with `$`. */
  protected readDollar(draft: Draft, isQuoted: boolean): void {
    const next = this.text[this.at + 1] ?? "";
    if (!isQuoted && next === "'") return this.#readAnsiQuoted(draft);
    if (!isQuoted && next === '"') {
      this.note(obstacles.signs);
      this.at += 1;
      return;
    }
    const start = this.at;
    this.at += 1;
    if (next === "(" || next === "{")
      this.#descend(() => (next === "(" ? this.#readParenthesis() : this.#readParameter(isQuoted)));
    else if (next === "[" || this.text.startsWith(lineContinuation, this.at))
      throw new UnreadableError("a $ that cannot be read");
    else if (!this.take(/[A-Za-z_]\w*|[\d@*#?$!-]/y)) {
      this.note(obstacles.variable);
      draft.text += "$";
      return;
    } else this.note(obstacles.variable);
    draft.text += UNKNOWN;
    if (!isQuoted || this.text.slice(start, this.at).includes("@")) draft.isSplit = true;
  }

  #readAnsiQuoted(draft: Draft): void {
    this.note(obstacles.ansi);
    this.at += 1;
    if (!this.take(/'(?:[^'\\]|\\[^])*'/y)) throw new UnreadableError("an unclosed quote");
    draft.text += UNKNOWN;
  }

  #readParenthesis(): void {
    if (this.text.startsWith("((", this.at)) {
      this.at += 2;
      this.readArithmetic();
      return;
    }
    this.note(obstacles.substitution);
    this.at += 1;
    this.readNested();
  }

  /** Reads arithmetic after its `((`, up to and with `))`. Any other text with this start is a group of commands. */
  protected readArithmetic(): void {
    this.note(obstacles.arithmetic);
    const draft: Draft = { text: "", isGlob: false, isSplit: false, braces: 0 };
    for (let open = 1; open > 0;) {
      const character = this.text[this.at];
      if (character === undefined || "'\\".includes(character))
        throw new UnreadableError("arithmetic that cannot be read");
      if (character === "(") open += 1;
      if (character === ")") open -= 1;
      if (character === "$") this.readDollar(draft, true);
      else if (character === "`") this.readBackticks(draft, true);
      else if (character === '"') this.#readDoubleQuoted(draft);
      else this.at += 1;
    }
    if (this.text[this.at] !== ")") throw new UnreadableError("parentheses that may be arithmetic or commands");
    this.at += 1;
  }

  /** Reads an expansion after its `$`, from `{` to the closing brace. */
  #readParameter(isQuoted: boolean): void {
    this.note(obstacles.variable);
    this.at += 1;
    const draft: Draft = { text: "", isGlob: false, isSplit: false, braces: 0 };
    // Newer versions of bash run `${ command; }`.
    if (/[ \t\n|(]/.test(this.text[this.at] ?? "(")) throw new UnreadableError("a command in ${ }");
    for (let character = this.text[this.at]; character !== "}"; character = this.text[this.at]) {
      const isUnclear = character === "'" && isQuoted;
      if (character === undefined || isUnclear || /^[<>]\(/.test(this.text.slice(this.at, this.at + 2))) {
        throw new UnreadableError("a variable that cannot be read");
      }
      if (character === "'") this.#readSingleQuoted();
      else if (character === '"') this.#descend(() => this.#readDoubleQuoted(draft));
      else if (character === "\\") this.at += 2;
      else if (character === "$") this.readDollar(draft, true);
      else if (character === "`") this.readBackticks(draft, isQuoted);
      else this.at += 1;
    }
    this.at += 1;
  }

  protected readBackticks(draft: Draft, isQuoted: boolean): void {
    this.note(obstacles.substitution);
    const content = this.take(/`(?:[^`\\]|\\[^])*`/y)?.slice(1, -1);
    if (content === undefined) throw new UnreadableError("unclosed backticks");
    const commands = content.replaceAll(isQuoted ? /\\([$`\\"])/g : /\\([$`\\])/g, "$1");
    this.#descend(() => this.readText(commands, this.depth));
    draft.text += UNKNOWN;
    if (!isQuoted) draft.isSplit = true;
  }

  /** Takes the text that a sticky pattern matches here, and moves after it. */
  protected take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found !== undefined) this.at = pattern.lastIndex;
    return found;
  }

  /** True if a sticky pattern matches here. */
  protected isAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  #descend(read: () => void): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new UnreadableError("too many levels");
    read();
    this.depth -= 1;
  }
}

/** True if some systems treat a byte of the character (85 or A0) as a blank. */
function isSplitBySomeShells(code: number): boolean {
  const bytes = [code & 0x3f, (code >> 6) & 0x3f, (code >> 12) & 0x3f];
  return bytes.some((bits) => bits === 0x05 || bits === 0x20);
}
