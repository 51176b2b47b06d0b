/**
 * The code blocks of a page. The first word after the fence is the language. A label follows it if a test treats the block
 * in its own way, for instance `sh no-run: needs a key`. The `text` block after a command is the output of the command.
 */
import { parseText } from "@sheaf/documents";

export interface PageBlock {
  readonly source: string;
  readonly language: string;
  /** The words after the language, or "". */
  readonly label: string;
  /** Undefined if the page shows no output. */
  readonly output: string | undefined;
  /** Whether this is the output of the block before it. */
  readonly isOutput: boolean;
}

export interface ShellBlock {
  readonly source: string;
  /** `sh`, or `sh` and a label. */
  readonly info: string;
  /** Undefined if the page shows no output. */
  readonly output: string | undefined;
}

export function readBlocks(markdown: string): readonly PageBlock[] {
  const blocks = parseText(markdown).flatMap((segment) => {
    if (segment.type !== "code_block") return [];
    const info = segment.info ?? segment.language;
    const [language = ""] = info.split(" ");
    return [{ source: segment.content, language, label: info.slice(language.length).trim() }];
  });
  const isOutputAt = (at: number): boolean => {
    const [before, block] = [blocks[at - 1], blocks[at]];
    return block?.language === "text" && block.label === "" && before !== undefined && before.language !== "text";
  };
  return blocks.map((block, at) => ({
    ...block,
    output: isOutputAt(at + 1) ? blocks[at + 1]!.source : undefined,
    isOutput: isOutputAt(at),
  }));
}

export function readShellBlocks(markdown: string): readonly ShellBlock[] {
  return readBlocks(markdown)
    .filter(({ language }) => language === "sh")
    .map(({ source, label, output }) => ({ source, info: `sh ${label}`.trim(), output }));
}
