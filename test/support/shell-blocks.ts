/**
 * The shell blocks of a page. A `sh` block runs, and the `text` block that comes next, if one comes before other code, is
 * what it prints. Further words tell the test of the page what a block needs: `sh fragment` does not run.
 */
import { parseText } from "@sheaf/documents";

export interface ShellBlock {
  readonly source: string;
  /** `sh`, or `sh` and a word. */
  readonly info: string;
  /** Undefined if the page does not say. */
  readonly output: string | undefined;
}

export function readShellBlocks(markdown: string): readonly ShellBlock[] {
  const segments = parseText(markdown);
  return segments.flatMap((segment, index) => {
    if (segment.type !== "code_block" || segment.language !== "sh") return [];
    const next = segments.slice(index + 1).find(({ type }) => type === "code_block");
    const output = next?.type === "code_block" && next.language === "text" ? next.content : undefined;
    return [{ source: segment.content, info: segment.info ?? segment.language, output }];
  });
}
