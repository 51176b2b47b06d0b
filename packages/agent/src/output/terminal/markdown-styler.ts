/** Styles Markdown for a terminal while the model writes it. All characters stay, even the marks. */
import { toVisibleText } from "../visible-text.ts";

export interface MarkdownStyler {
  /** Returns the output for this piece of text, except for a few characters that are still undecided. */
  push(text: string): string;
  /** Returns the rest, with all styles ended. */
  end(): string;
}

const bold = ["\u001B[1m", "\u001B[22m"] as const;
const dim = ["\u001B[2m", "\u001B[22m"] as const;
const code = ["\u001B[36m", "\u001B[39m"] as const;

/** Starts of a line that may still become a heading or a fence. */
const undecided = /^ {0,3}(?:#{0,6}|`{0,2}|~{0,2})$/;
const fence = /^ {0,3}(?:`{3}|~{3})/;
const heading = /^ {0,3}#{1,6}[ \t]/;

/** Makes headings and strong text bold, code coloured, fence lines dim; without colours, changes control characters. */
export function createMarkdownStyler({ hasColors }: { readonly hasColors: boolean }): MarkdownStyler {
  return hasColors ? new Styler() : createPlainStyler();
}

function createPlainStyler(): MarkdownStyler {
  const returns = createReturnHolder();
  return { push: (text) => toVisibleText(returns.push(text)), end: () => toVisibleText(returns.end()) };
}

/** Holds back a CR at the end of a piece, which may be half of a line end. */
function createReturnHolder(): { push(text: string): string; end(): string } {
  let held = "";
  return {
    push(text) {
      const all = held + text;
      held = all.endsWith("\r") ? "\r" : "";
      return held === "" ? all : all.slice(0, -1);
    },
    end() {
      const rest = held;
      held = "";
      return rest;
    },
  };
}

class Styler implements MarkdownStyler {
  readonly #returns = createReturnHolder();
  /** Start of a line of unknown kind. */
  #start: string | undefined = "";
  #isFenced = false;
  #look: "none" | "heading" | "fence" = "none";
  #isBold = false;
  #isCode = false;
  #heldStar = false;

  push(text: string): string {
    let output = "";
    for (const character of toVisibleText(this.#returns.push(text))) output += this.#take(character);
    return output;
  }

  end(): string {
    const rest = toVisibleText(this.#returns.end());
    return this.#decide() + rest + this.#endLine();
  }

  #take(character: string): string {
    if (character === "\n") return `${this.#decide()}${this.#endLine()}\n`;
    if (this.#start === undefined) return this.#takeInline(character);
    this.#start += character;
    return undecided.test(this.#start) ? "" : this.#decide();
  }

  /** Returns the start of the line in its style, once its kind is known. */
  #decide(): string {
    const held = this.#start;
    if (held === undefined) return "";
    this.#start = undefined;
    if (fence.test(held)) {
      this.#isFenced = !this.#isFenced;
      this.#look = "fence";
      return dim[0] + held;
    }
    if (!this.#isFenced && heading.test(held)) {
      this.#look = "heading";
      return bold[0] + held;
    }
    let output = "";
    for (const character of held) output += this.#takeInline(character);
    return output;
  }

  #takeInline(character: string): string {
    if (this.#isFenced || this.#look !== "none") return character;
    if (character === "*" && !this.#isCode) {
      if (!this.#heldStar) {
        this.#heldStar = true;
        return "";
      }
      this.#heldStar = false;
      this.#isBold = !this.#isBold;
      return this.#isBold ? `${bold[0]}**` : `**${bold[1]}`;
    }
    const star = this.#takeStar();
    if (character !== "`") return star + character;
    this.#isCode = !this.#isCode;
    return star + (this.#isCode ? `${code[0]}\`` : `\`${code[1]}`);
  }

  #takeStar(): string {
    const star = this.#heldStar ? "*" : "";
    this.#heldStar = false;
    return star;
  }

  #endLine(): string {
    const star = this.#takeStar();
    const isDimmedOrBold = this.#look !== "none" || this.#isBold;
    const output = `${star}${isDimmedOrBold ? bold[1] : ""}${this.#isCode ? code[1] : ""}`;
    this.#look = "none";
    this.#isBold = false;
    this.#isCode = false;
    this.#start = "";
    return output;
  }
}
