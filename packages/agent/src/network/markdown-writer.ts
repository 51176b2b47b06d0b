/** Markdown written block by block: paragraphs with the marks of the quotes and lists around them. */

export interface MarkdownWriter {
  /** Running text; blanks and line ends become one blank. */
  write(text: string): void;
  /** A line end in the paragraph. */
  breakLine(): void;
  /** Replaces the open paragraph. */
  rewrite(text: string): void;
  /** Ends the paragraph, if there is one. */
  endBlock(): void;
  /** Lines as they are, in a separate block. */
  writeLines(lines: readonly string[]): void;
  /** Prefixes the first line of the next block with `first`, and all further lines with `rest`. */
  openContainer(first: string, rest: string): void;
  closeContainer(): void;
  /** The text of the open paragraph. */
  readonly line: string;
  /** Grows with each paragraph. */
  readonly paragraph: number;
  /** Returns and removes the open paragraph. */
  take(): string;
  end(): string;
}

/** Longer paragraphs are split, since their ends are examined repeatedly. UTF-16 units. */
const MAX_PARAGRAPH = 4000;

export function createMarkdownWriter(): MarkdownWriter {
  const blocks: string[] = [];
  const containers: { first: string | undefined; readonly rest: string }[] = [];
  let line = "";
  let paragraph = 0;

  /** In front of the first line of a block, and of all others. */
  const toPrefixes = (): { first: string; rest: string } => {
    let [first, rest] = ["", ""];
    for (const container of containers) {
      first += container.first ?? container.rest;
      rest += container.rest;
      container.first = undefined;
    }
    return { first, rest };
  };

  const push = (lines: readonly string[]): void => {
    const { first, rest } = toPrefixes();
    blocks.push(lines.map((text, index) => ((index === 0 ? first : rest) + text).trimEnd()).join("\n"));
  };

  const endBlock = (): void => {
    const text = line.trim();
    line = "";
    paragraph += 1;
    if (text !== "") push(text.split("\n").map((part) => part.trim()));
  };

  return {
    write(text) {
      if (line.length > MAX_PARAGRAPH) endBlock();
      const flowing = text.replaceAll(/\s+/g, " ");
      line += line === "" || line.endsWith(" ") || line.endsWith("\n") ? flowing.trimStart() : flowing;
    },
    breakLine() {
      line += "\n";
    },
    rewrite(text) {
      line = text;
    },
    endBlock,
    writeLines(lines) {
      push(lines);
    },
    openContainer(first, rest) {
      containers.push({ first, rest });
    },
    closeContainer() {
      containers.pop();
    },
    get line() {
      return line;
    },
    get paragraph() {
      return paragraph;
    },
    take() {
      const text = line;
      line = "";
      paragraph += 1;
      return text;
    },
    end() {
      return blocks.join("\n\n");
    },
  };
}
