/**
 * Reads shell commands as bash does: the programs that run, with their words, in lists, loops, functions and
 * substitutions. An unknown form makes the whole command unknown, so that a mistake lets no command run.
 */
import { WordReader, UnreadableError } from "./read-word.ts";
import type { ShellResult, ShellWord, SimpleCommand } from "./shell-reading.ts";

/** Most UTF-16 units of a command. */
const MAX_LENGTH = 65_536;

/** Matches text that every bash reads alike: no control, format or private characters, no unusual blanks. */
const ordinary = /^[\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]*$/u;

/** Reads a command in linear time. The result depends on the text alone (S-86). */
export function readCommand(command: string): ShellResult {
  if (command.length > MAX_LENGTH) return { ok: false, problem: "more text than is read" };
  if (!ordinary.test(command)) return { ok: false, problem: "invisible or control characters" };
  const found: Found = { commands: [], settings: [], connectors: [], obstacle: undefined };
  try {
    new CommandReader(command, found, 0).readAll();
  } catch (error) {
    if (error instanceof UnreadableError) return { ok: false, problem: error.message };
    throw error;
  }
  const { commands, settings, connectors, obstacle } = found;
  const [first = "&&", ...rest] = connectors;
  const isChain = first === "&&" && rest.every((connector) => /^(?:&&|\|&?)$/.test(connector));
  const missing = commands.length === 0 ? "no command" : undefined;
  return { ok: true, reading: { commands, settings, isChain, obstacle: obstacle ?? missing } };
}

interface Found {
  readonly commands: SimpleCommand[];
  readonly settings: ShellWord[];
  readonly connectors: string[];
  obstacle: string | undefined;
}

/** Commands that are being read, up to an end. */
interface List {
  /** Open parentheses, braces and cases. */
  readonly open: ("(" | "{" | "case")[];
  /** Shows if a command may start here, must start here, or has just ended. */
  state: "may" | "must" | "done";
}

interface HereDocument {
  readonly end: string;
  readonly isQuoted: boolean;
  readonly isIndented: boolean;
}

const operators = /;;&|;;|;&|&&|\|\||\|&|[;|()\n]|&(?!>)/y;
const redirection = /(?:\d+|\{[A-Za-z_]\w*\})?(?:<<<|<<-?|<>|<&|>&|>>|>\||<(?!\()|>(?!\())|&>>?/y;
/** Matches redirections that reach no file: to and from /dev/null, and from one output to the other. */
const harmless = /^(?:[12]?>>?[ \t]*\/dev\/null|&>>?[ \t]*\/dev\/null|[12]?>&[12]|0?<[ \t]*\/dev\/null)$/;
/** Matches words with a meaning for the shell at the start of a command. */
const reserved =
  /(?:!|\{|\}|\[\[|case|coproc|do|done|elif|else|esac|fi|for|function|if|select|then|until|while)(?=[ \t\n;&|<>()]|\\\n|$)/y;
/** Matches the shell's own `time` in front of anything but a plain command. */
const timed = /time(?:[ \t]+(?:-p|--))*[ \t]+(?=[({!]|\[\[|(?:case|for|function|if|select|until|while)[ \t\n])/y;

class CommandReader extends WordReader {
  readonly #found: Found;
  /** Position after which only line ends follow. */
  readonly #end: number;
  #hereDocuments: HereDocument[] = [];

  constructor(text: string, found: Found, depth: number) {
    super(text, depth);
    this.#found = found;
    this.#end = text.trimEnd().length;
  }

  readAll(): void {
    this.#readList(false);
  }

  protected note(obstacle: string): void {
    this.#found.obstacle ??= obstacle;
  }

  protected readNested(): void {
    const outer = this.#hereDocuments;
    const start = this.at;
    this.#hereDocuments = [];
    this.#readList(true);
    this.#hereDocuments = outer;
    this.#checkLines(start);
  }

  protected readText(text: string, depth: number): void {
    new CommandReader(text, this.#found, depth).readAll();
  }

  protected override readWord(): ShellWord {
    const start = this.at;
    const word = super.readWord();
    this.#checkLines(start);
    return word;
  }

  /** A here-document must not start inside of a word. */
  #checkLines(start: number): void {
    if (this.#hereDocuments.length > 0 && this.text.slice(start, this.at).includes("\n")) {
      throw new UnreadableError("a here-document that cannot be read");
    }
  }

  #readList(isNested: boolean): void {
    const list: List = { open: [], state: "may" };
    for (;;) {
      this.#skipBlanks();
      const operator = this.#takeOperator();
      if (operator === ")" && isNested && list.open.length === 0) return this.#endList(list);
      if (operator !== undefined) this.#readOperator(operator, list);
      else if (this.at < this.text.length) list.state = this.#readPart(list);
      else if (isNested) throw new UnreadableError("an unfinished part");
      else return this.#endList(list);
    }
  }

  #endList({ open, state }: List): void {
    const isOpen = state === "must" || open.length > 0 || this.#hereDocuments.length > 0;
    if (isOpen) throw new UnreadableError("an unfinished part");
  }

  #skipBlanks(): void {
    this.take(/(?:[ \t]|\\\n)*(?:#[^\n]*)?/y);
  }

  #skipLines(): void {
    for (this.#skipBlanks(); this.text[this.at] === "\n"; this.#skipBlanks()) this.#endLine();
  }

  #endLine(): void {
    this.at += 1;
    const documents = this.#hereDocuments;
    this.#hereDocuments = [];
    for (const document of documents) this.#readHereDocument(document);
  }

  #takeOperator(): string | undefined {
    const operator = this.take(operators);
    if (operator !== undefined && operator !== "\n") this.#checkEnd();
    return operator;
  }

  /** Bash joins an operator that a line end divides. */
  #checkEnd(): void {
    if (this.isAt(/(?:\\\n)+[;&|<>()]/y)) throw new UnreadableError("an operator split over two lines");
  }

  #readOperator(operator: string, list: List): void {
    if (operator === "\n") {
      this.at -= 1;
      this.#endLine();
      if (list.state !== "done") return;
      list.state = "may";
      if (this.at >= this.#end) return;
    } else if (operator === "(") this.#openParenthesis(list);
    else if (operator === ")") this.#close("(", list);
    else if (/^;;|^;&/.test(operator)) {
      const isCase = list.open.at(-1) === "case" && list.state !== "must";
      if (!isCase) throw new UnreadableError("a case that cannot be read");
      this.#readPatterns(list);
    } else {
      if (list.state !== "done") throw new UnreadableError(`${operator} without a command before it`);
      if (operator === "&") this.note("a command in the background");
      list.state = operator === ";" || operator === "&" ? "may" : "must";
    }
    this.#found.connectors.push(operator);
  }

  #openParenthesis(list: List): void {
    if (list.state === "done") throw new UnreadableError("a misplaced parenthesis");
    const isArithmetic = this.text[this.at] === "(";
    list.state = isArithmetic ? "done" : "must";
    if (!isArithmetic) return void list.open.push("(");
    this.at += 1;
    this.readArithmetic();
  }

  #close(opening: "(" | "{" | "case", list: List): void {
    const isEmpty = list.state === "must";
    if (isEmpty || list.open.pop() !== opening)
      throw new UnreadableError("a closing bracket or word that closes nothing");
    list.state = "done";
  }

  /** Reads a word or a redirection, with its parts. */
  #readPart(list: List): List["state"] {
    const isAfterCommand = list.state === "done";
    if (isAfterCommand && this.#takeRedirection()) return "done";
    const word = this.take(reserved) ?? (isAfterCommand ? undefined : this.take(timed)?.slice(0, 4));
    if (word === undefined && !isAfterCommand) return this.#readSimpleCommand();
    if (word === undefined) throw new UnreadableError("a word after a closing bracket");
    if (this.isAt(/\\\n/y)) throw new UnreadableError("a word split over two lines");
    if (!/^[!{}]$/.test(word)) this.note(`the shell's ${word}`);
    return this.#readReserved(word, list);
  }

  #readReserved(word: string, list: List): List["state"] {
    const isAfterCommand = list.state === "done";
    if (/^[{}!]$/.test(word)) this.#found.connectors.push(word);
    if (word === "}" || word === "esac") this.#close(word === "}" ? "{" : "case", list);
    else if (word === "fi" || word === "done") {
      if (list.state === "must") throw new UnreadableError("an unfinished part");
    } else if (/^(?:do|elif|else|then)$/.test(word)) return "must";
    else if (isAfterCommand || word === "coproc") throw new UnreadableError(`the shell's ${word}`);
    else if (word === "[[") this.#readTest();
    else if (word === "for" || word === "select") this.#readLoopHead();
    else if (word === "case") {
      list.open.push("case");
      this.#readCaseHead();
      this.#readPatterns(list);
      return list.state;
    } else {
      if (word === "{") list.open.push("{");
      if (word === "function") {
        this.#skipBlanks();
        this.readWord();
        this.#takeFunctionEnd();
      }
      return "must";
    }
    return "done";
  }

  #readSimpleCommand(): List["state"] {
    const words: ShellWord[] = [];
    const start = this.at;
    for (this.#skipBlanks(); ; this.#skipBlanks()) {
      if (this.#takeRedirection() || (words.length === 0 && this.#takeAssignment())) continue;
      if (this.isAtBreak()) {
        if (this.text[this.at] !== "(") break;
        if (words.length === 1 && this.#takeFunctionEnd()) return "must";
        this.#readValues(words.at(-1)?.source ?? "");
        continue;
      }
      words.push(this.readWord());
    }
    if (this.at === start) throw new UnreadableError("a misplaced operator");
    const [first] = words;
    if (!first) return "done";
    if (first.isMany || first.text === "" || first.text.includes("=")) this.note("a program that is not named plainly");
    this.#found.commands.push(words);
    return "done";
  }

  /** Takes the end of `name` or `function name`. */
  #takeFunctionEnd(): boolean {
    this.#skipBlanks();
    const isFunction = this.take(/\([ \t]*\)/y) !== undefined;
    if (isFunction) this.note("a function");
    return isFunction;
  }

  #takeAssignment(): boolean {
    if (this.isAt(/[A-Za-z_]\w*\[/y)) throw new UnreadableError("an assignment to an array element");
    const name = this.take(/[A-Za-z_]\w*\+?=/y);
    if (name === undefined) return false;
    this.note("a variable that is set");
    if (this.text[this.at] === "(") this.#readValues(name);
    else if (!this.isAtBreak()) this.#addSetting(name, this.readWord());
    return true;
  }

  /** Reads `(a b c)` after `name=`. */
  #readValues(name: string): void {
    if (!/^[A-Za-z_]\w*\+?=$/.test(name)) throw new UnreadableError("a misplaced parenthesis");
    this.note("a variable that is set");
    this.at += 1;
    for (this.#skipLines(); this.text[this.at] !== ")"; this.#skipLines()) this.#addSetting(name, this.readWord());
    this.at += 1;
    // Bash reads `a=(x)ls rm` as one assignment, and runs rm.
    if (!this.isAtBreak()) throw new UnreadableError("an assignment with more text right after it");
  }

  #addSetting(name: string, value: ShellWord): void {
    this.#found.settings.push({
      ...value,
      text: `${name.replace("+", "")}${value.text}`,
      source: `${name}${value.source}`,
    });
  }

  #takeRedirection(): boolean {
    const start = this.at;
    const operator = this.take(redirection);
    if (operator === undefined) return false;
    this.#checkEnd();
    this.#skipBlanks();
    if (/(?<!<)<<-?$/.test(operator)) this.#readHereDocumentHead(operator.endsWith("-"));
    else this.readWord();
    if (operator.endsWith("<<<")) this.note("a here-string");
    else if (!harmless.test(this.text.slice(start, this.at))) this.note("a redirection");
    return true;
  }

  #readHereDocumentHead(isIndented: boolean): void {
    this.note("a here-document");
    const word = this.take(/(?:[\w.-]+|'[\w.-]*'|"[\w.-]*"|\\[\w.-])+/y);
    if (word === undefined || !this.isAtBreak()) throw new UnreadableError("a here-document that cannot be read");
    const isQuoted = /['"\\]/.test(word);
    this.#hereDocuments.push({ end: word.replaceAll(/['"\\]/g, ""), isQuoted, isIndented });
  }

  #readHereDocument({ end, isQuoted, isIndented }: HereDocument): void {
    const start = this.at;
    for (;;) {
      const lineEnd = this.text.indexOf("\n", this.at);
      const line = this.text.slice(this.at, lineEnd < 0 ? undefined : lineEnd);
      const isEnd = (isIndented ? line.replace(/^\t+/, "") : line) === end;
      const body = this.text.slice(start, this.at);
      this.at = lineEnd < 0 ? this.text.length : lineEnd + 1;
      if (isEnd) return isQuoted ? undefined : this.#readBody(body, end);
      if (lineEnd < 0) throw new UnreadableError("a here-document without an end");
    }
  }

  /** Reads a body. Bash joins lines that end with a backslash before it looks for the end. */
  #readBody(body: string, end: string): void {
    const lines = body.split("\n").map((line) => line.replace(/^\t+/, ""));
    const isJoined = lines.some((line) => line.endsWith("\\") && end.startsWith(line.slice(0, -1)));
    if (isJoined || body.endsWith("\\\n")) throw new UnreadableError("a here-document whose end cannot be read");
    new CommandReader(body, this.#found, this.depth).readExpansions();
  }

  #readLoopHead(): void {
    this.#skipBlanks();
    if (this.take(/\(\(/y)) return this.readArithmetic();
    const name = this.take(/[A-Za-z_]\w*(?![^\s;&|<>()])/y);
    if (name === undefined) throw new UnreadableError("a loop that cannot be read");
    this.#skipLines();
    if (!this.take(/in(?=[\s;])/y)) return;
    for (this.#skipBlanks(); !this.isAtBreak(); this.#skipBlanks()) this.#addSetting(`${name}=`, this.readWord());
  }

  #readCaseHead(): void {
    this.#skipBlanks();
    this.readWord();
    this.#skipLines();
    if (!this.take(/in(?=\s)/y)) throw new UnreadableError("a case that cannot be read");
  }

  #readPatterns(list: List): void {
    this.#skipLines();
    list.state = "may";
    // The word that ends the case is read like a word after a command.
    if (this.isAt(/esac(?![^\s;&|<>()])/y)) return;
    this.take(/\(/y);
    for (;;) {
      this.#skipBlanks();
      this.readWord();
      this.#skipBlanks();
      const separator = this.take(/[|)]/y);
      if (separator === ")") return;
      if (separator === undefined) throw new UnreadableError("a case that cannot be read");
    }
  }

  /** Reads a test after its `[[`, up to and with `]]`. */
  #readTest(): void {
    const start = this.at;
    while (!this.take(/\]\](?=[\s;&|<>()]|$)/y)) {
      if (this.take(/(?:[ \t\n]|\\\n)+/y)) continue;
      if (this.text[this.at] === "#") throw new UnreadableError("a test in brackets that cannot be read");
      // Numbers are arithmetic, which runs the commands in the names of variables.
      const word = this.isAtBreak() ? undefined : this.readWord();
      if (word) this.#found.settings.push(...(/\$\(|`/.test(word.text) ? [word] : []));
      else if (!this.take(/[()|&<>]/y)) throw new UnreadableError("a test in brackets that cannot be read");
    }
    this.#checkLines(start);
  }
}
