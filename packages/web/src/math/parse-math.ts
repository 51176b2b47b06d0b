/** Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]` within a paragraph. Prices stay prices. */
import type { Literal } from "mdast";
import type { Extension as TreeExtension } from "mdast-util-from-markdown";
import type { Construct, Extension, State, Tokenizer } from "micromark-util-types";

/** A formula in a paragraph, in TeX. */
export interface FormulaNode extends Literal {
  type: "formula";
  /** Source without its delimiters. */
  value: string;
  /** True if the formula has its own lines. */
  isDisplay: boolean;
}

declare module "mdast" {
  interface PhrasingContentMap {
    formula: FormulaNode;
  }
  interface RootContentMap {
    formula: FormulaNode;
  }
}

declare module "micromark-util-types" {
  interface TokenTypeMap {
    formula: "formula";
    formulaData: "formulaData";
  }
}

const dollar = 36;
const backslash = 92;
/** Number of characters; a longer formula stays text. */
const longest = 4000;

/** The second character of an opening delimiter, with the second character of its closing one. */
const brackets: Readonly<Record<number, number>> = { 40: 41, 91: 93 };

export const formulas: Extension = {
  text: {
    [dollar]: { name: "formula", tokenize: createTokenizer(), previous: isBoundary },
    [backslash]: { name: "formula", tokenize: createTokenizer(), previous: isBoundary },
  } satisfies Record<number, Construct>,
};

export const formulasFromMarkdown: TreeExtension = {
  enter: {
    formula(token) {
      this.enter({ type: "formula", value: "", isDisplay: false }, token);
    },
  },
  exit: {
    formula(token) {
      const text = this.sliceSerialize(token);
      const size = text.startsWith("$") && !text.startsWith("$$") ? 1 : 2;
      const node = this.stack.at(-1) as unknown as FormulaNode;
      node.value = text.slice(size, -size).trim();
      node.isDisplay = text.startsWith("$$") || text.startsWith("\\[");
      this.exit(token);
    },
  },
};

/** True if a formula can start after this character: not after ASCII letters and digits, as in `US$5` or `f\(x\)`. */
function isBoundary(code: number | null): boolean {
  return code !== dollar && !isWord(code);
}

function isWord(code: number | null): boolean {
  if (code === null) return false;
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** True for blanks, tabs and line ends, which the tokenizer represents as negative numbers. */
function isBlank(code: number | null): boolean {
  return code !== null && (code < 0 || code === 32);
}

/** Each kind of delimiter ends the search at its next opening one, so that many of them cost no more than the text. */
function createTokenizer(): Tokenizer {
  return function tokenize(effects, ok, nok): State {
    /** Second character of the opening delimiter: a bracket, a dollar, or 0 for a single dollar. */
    let kind = 0;
    let length = 0;
    let before: number | null = null;

    const { previous } = this;
    const start: State = (code) => {
      // The parser doesn't call `previous` before every attempt.
      if (!isBoundary(previous)) return nok(code);
      effects.enter("formula");
      effects.enter("formulaData");
      effects.consume(code);
      return code === backslash ? bracket : second;
    };
    const bracket: State = (code) => {
      if (code === null || brackets[code] === undefined) return nok(code);
      kind = code;
      effects.consume(code);
      return inside;
    };
    const second: State = (code) => {
      if (code === dollar) {
        kind = dollar;
        effects.consume(code);
        return third;
      }
      return code === null || isBlank(code) ? nok(code) : inside(code);
    };
    const third: State = (code) => (code === dollar ? nok(code) : inside(code));
    const inside: State = (code) => {
      length += 1;
      if (code === null || length > longest) return nok(code);
      if (code < -2) {
        effects.exit("formulaData");
        effects.enter("lineEnding");
        effects.consume(code);
        effects.exit("lineEnding");
        effects.enter("formulaData");
        before = code;
        return inside;
      }
      if (code === dollar && (kind === 0 || kind === dollar)) {
        if (length === 1 || (kind === 0 && isBlank(before))) return nok(code);
        effects.consume(code);
        return kind === 0 ? after : closing;
      }
      effects.consume(code);
      if (code === backslash) return escaped;
      before = code;
      return inside;
    };
    const escaped: State = (code) => {
      if (code === null || code < 0) return inside(code);
      before = code;
      if (kind !== 0 && kind !== dollar) {
        if (code === kind) return nok(code);
        if (code === brackets[kind]) {
          effects.consume(code);
          return length > 1 ? end : nok;
        }
      }
      effects.consume(code);
      return inside;
    };
    const closing: State = (code) => {
      if (code !== dollar) return nok(code);
      effects.consume(code);
      return end;
    };
    // `$5-$10` and `$HOME/$PATH` aren't formulas.
    const after: State = (code) => (code === dollar || isWord(code) ? nok(code) : end(code));
    const end: State = (code) => {
      effects.exit("formulaData");
      effects.exit("formula");
      return ok(code);
    };
    return start;
  };
}
