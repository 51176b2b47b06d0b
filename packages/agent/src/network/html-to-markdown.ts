/** A page as Markdown for a model: its main part, without what is for browsers. */
import { toFence } from "../base/to-fence.ts";
import { toHtmlTokens, type HtmlToken } from "./html-tokens.ts";
import { createMarkdownWriter, type MarkdownWriter } from "./markdown-writer.ts";

type OpenToken = Extract<HtmlToken, { type: "open" }>;

/** Deeper elements become their text. */
const MAX_DEPTH = 100;

/** Further tokens are ignored. */
const MAX_TOKENS = 200_000;

const blockElements: ReadonlySet<string> = new Set([
  "address", "article", "aside", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption",
  "figure", "footer", "form", "header", "hgroup", "html", "main", "nav", "option", "p", "section", "summary", "tbody",
  "thead", "tfoot", "caption", "legend",
]); // prettier-ignore

/** Their contents are left out. */
const hiddenElements: ReadonlySet<string> = new Set([
  "nav", "button", "select", "datalist", "object", "canvas", "audio", "video",
]); // prettier-ignore

/** They have no contents and no end tag. */
const voidElements: ReadonlySet<string> = new Set([
  "br", "hr", "img", "input", "meta", "link", "source", "track", "wbr", "area", "base", "col", "embed",
]); // prettier-ignore

const inlineMarks: Readonly<Record<string, string>> = { b: "**", strong: "**", em: "*", i: "*", del: "~~", s: "~~" };

/** Links are resolved against `address`. If the page has a `main` part, the rest is left out. */
export function toMarkdown(html: string, address: string): string {
  const tokens = readTokens(html);
  const title = readTitle(tokens);
  const converter = new Converter(address);
  for (const token of toMainPart(tokens)) converter.push(token);
  const text = converter.end();
  // A page that begins with its title shows it once.
  const [firstLine = ""] = text.split("\n", 1);
  const isTold = title === "" || firstLine.replace(/^#+ /, "").trim() === title;
  return isTold ? text : `# ${title}\n\n${text}`.trim();
}

function readTokens(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = [];
  for (const token of toHtmlTokens(html)) {
    if (tokens.push(token) === MAX_TOKENS) break;
  }
  return tokens;
}

function readTitle(tokens: readonly HtmlToken[]): string {
  const place = tokens.findIndex((token) => token.type === "open" && token.name === "title");
  const text = place === -1 ? undefined : tokens[place + 1];
  return text?.type === "text" ? text.text.replaceAll(/\s+/g, " ").trim() : "";
}

function toMainPart(tokens: readonly HtmlToken[]): readonly HtmlToken[] {
  for (const name of ["main", "body"]) {
    const start = tokens.findIndex((token) => token.type === "open" && token.name === name);
    if (start === -1) continue;
    const end = tokens.findLastIndex((token) => token.type === "close" && token.name === name);
    return tokens.slice(start, end > start ? end : tokens.length);
  }
  return tokens.filter(
    (_, index) => tokens[index - 1]?.type !== "open" || (tokens[index - 1] as OpenToken).name !== "title",
  );
}

class Converter {
  readonly #address: string;
  readonly #writer: MarkdownWriter = createMarkdownWriter();
  /** Open elements that change how text is shown, and what to do at their ends. */
  readonly #open: { readonly name: string; readonly close: () => void }[] = [];
  #hidden = 0;
  #preformatted: { text: string; language: string } | undefined;
  #row: string[] | undefined;
  #rows: string[][] | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  push(token: HtmlToken): void {
    if (token.type === "text") this.#pushText(token.text);
    else if (token.type === "open") this.#openElement(token);
    else this.#closeElement(token.name);
  }

  end(): string {
    while (this.#open.length > 0) this.#open.pop()!.close();
    this.#writer.endBlock();
    return this.#writer.end();
  }

  #pushText(text: string): void {
    if (this.#hidden > 0) return;
    if (this.#preformatted) this.#preformatted.text += text;
    else this.#writer.write(text);
  }

  #openElement(token: OpenToken): void {
    const { name, attributes } = token;
    if (this.#open.length >= MAX_DEPTH) return;
    if (this.#hidden > 0 || hiddenElements.has(name) || attributes.has("hidden")) {
      if (!voidElements.has(name)) this.#hide(name);
      return;
    }
    if (this.#preformatted) return this.#openInPreformatted(token);
    const mark = inlineMarks[name];
    if (mark !== undefined) return this.#openMark(name, mark);
    if (/^h[1-6]$/.test(name)) return this.#openHeading(name);
    switch (name) {
      case "br":
        return this.#writer.breakLine();
      case "hr":
        this.#writer.endBlock();
        return this.#writer.writeLines(["---"]);
      case "img":
        return this.#writeImage(attributes.get("alt") ?? "");
      case "a":
        return this.#openLink(attributes.get("href") ?? "");
      case "code":
      case "kbd":
      case "samp":
        return this.#openMark(name, "`");
      case "pre":
        return this.#openPreformatted(attributes);
      case "blockquote":
        return this.#openContainer(name, "> ", "> ");
      case "li":
        return this.#openItem();
      case "ul":
      case "ol":
        return this.#openList(name, Number(attributes.get("start") ?? 1) || 1);
      case "table":
        return this.#openTable();
      case "tr":
        return this.#openRow();
      case "td":
      case "th":
        return this.#openCell(name);
      default:
        if (blockElements.has(name)) this.#endBlock();
    }
  }

  /** A cell is one line. */
  #endBlock(): void {
    if (this.#row) this.#writer.write(" ");
    else this.#writer.endBlock();
  }

  /** Closes the element and those left open in it; an end tag without a start tag closes nothing. */
  #closeElement(name: string): void {
    const place = this.#open.findLastIndex((element) => element.name === name);
    if (place !== -1) {
      while (this.#open.length > place) this.#open.pop()!.close();
    } else if (this.#hidden === 0 && blockElements.has(name)) {
      this.#endBlock();
    }
  }

  #hide(name: string): void {
    this.#hidden += 1;
    this.#open.push({ name, close: () => (this.#hidden -= 1) });
  }

  #openMark(name: string, mark: string): void {
    this.#openSpan(name, (text) => mark + text + mark);
  }

  #openLink(href: string): void {
    const target = this.#toTarget(href);
    this.#openSpan("a", (text) => (target === undefined ? text : `[${text}](${target})`));
  }

  /** Marks the text of an element when it ends, unless a paragraph began in it. */
  #openSpan(name: string, toMarked: (text: string) => string): void {
    const { paragraph, line } = this.#writer;
    this.#open.push({
      name,
      close: () => {
        if (this.#writer.paragraph !== paragraph) return;
        const inside = this.#writer.line.slice(line.length);
        const text = inside.trim();
        if (text === "") return;
        const start = inside.indexOf(text);
        this.#writer.rewrite(line + inside.slice(0, start) + toMarked(text) + inside.slice(start + text.length));
      },
    });
  }

  /** Links within the page, and those that run something, become text. */
  #toTarget(href: string): string | undefined {
    if (href === "" || href.startsWith("#") || !URL.canParse(href, this.#address)) return undefined;
    const url = new URL(href, this.#address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  }

  #writeImage(alt: string): void {
    const text = alt.replaceAll(/\s+/g, " ").trim();
    if (text !== "") this.#writer.write(`(image: ${text})`);
  }

  #openHeading(name: string): void {
    this.#writer.endBlock();
    this.#open.push({
      name,
      close: () => {
        const text = this.#writer.take().replaceAll(/\s+/g, " ").trim();
        if (text !== "") this.#writer.writeLines([`${"#".repeat(Number(name[1]))} ${text}`]);
      },
    });
  }

  #openContainer(name: string, first: string, rest: string): void {
    this.#writer.endBlock();
    this.#writer.openContainer(first, rest);
    this.#open.push({
      name,
      close: () => {
        this.#writer.endBlock();
        this.#writer.closeContainer();
      },
    });
  }

  #numbers: (number | undefined)[] = [];

  #openList(name: string, start: number): void {
    this.#writer.endBlock();
    this.#numbers.push(name === "ol" ? start : undefined);
    this.#open.push({
      name,
      close: () => {
        this.#writer.endBlock();
        this.#numbers.pop();
      },
    });
  }

  /** An item ends the previous one, whose end tag may be missing. */
  #openItem(): void {
    const place = this.#open.findLastIndex(({ name }) => name === "li" || name === "ul" || name === "ol");
    if (this.#open[place]?.name === "li") this.#closeElement("li");
    const number = this.#numbers.at(-1);
    if (number !== undefined) this.#numbers[this.#numbers.length - 1] = number + 1;
    const first = number === undefined ? "- " : `${number}. `;
    this.#openContainer("li", first, " ".repeat(first.length));
  }

  #openPreformatted(attributes: ReadonlyMap<string, string>): void {
    this.#writer.endBlock();
    const preformatted = { text: "", language: findLanguage(attributes) };
    this.#preformatted = preformatted;
    this.#open.push({
      name: "pre",
      close: () => {
        this.#preformatted = undefined;
        const text = preformatted.text.replace(/^\r?\n/, "").trimEnd();
        if (text === "") return;
        const fence = toFence(text);
        this.#writer.writeLines([fence + preformatted.language, ...text.split(/\r?\n/), fence]);
      },
    });
  }

  #openInPreformatted({ name, attributes }: OpenToken): void {
    if (name === "br") this.#preformatted!.text += "\n";
    if (name === "code") this.#preformatted!.language ||= findLanguage(attributes);
  }

  #openTable(): void {
    // A nested table is for layout: its cells are blocks.
    if (this.#rows) return;
    this.#writer.endBlock();
    const rows: string[][] = [];
    this.#rows = rows;
    this.#open.push({
      name: "table",
      close: () => {
        this.#rows = undefined;
        this.#writer.endBlock();
        const width = Math.max(0, ...rows.map((row) => row.length));
        const lines = rows.map((row) => `| ${[...row, ...Array<string>(width - row.length).fill("")].join(" | ")} |`);
        if (width === 0) return;
        this.#writer.writeLines([lines[0]!, `|${" --- |".repeat(width)}`, ...lines.slice(1)]);
      },
    });
  }

  #openRow(): void {
    if (!this.#rows) return this.#writer.endBlock();
    if (this.#row) this.#closeElement("tr");
    this.#writer.endBlock();
    const row: string[] = [];
    this.#row = row;
    this.#open.push({
      name: "tr",
      close: () => {
        if (row.length > 0) this.#rows?.push(row);
        this.#row = undefined;
        this.#writer.endBlock();
      },
    });
  }

  #openCell(name: string): void {
    const row = this.#row;
    if (!row) return this.#writer.endBlock();
    const place = this.#open.findLastIndex((element) => ["td", "th", "tr"].includes(element.name));
    if (this.#open[place]?.name !== "tr") this.#closeElement(this.#open[place]!.name);
    this.#writer.endBlock();
    this.#open.push({
      name,
      close: () => void row.push(this.#writer.take().replaceAll(/\s+/g, " ").trim().replaceAll("|", "\\|")),
    });
  }
}

/** `language-ts` or `lang-ts` in the class. */
function findLanguage(attributes: ReadonlyMap<string, string>): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#.-]{1,30})/.exec(attributes.get("class") ?? "")?.[1] ?? "";
}
