/**
 * Parses Markdown that grows. Blocks that can no longer change are parsed once and kept; only the open end
 * is parsed again. Long texts are parsed window by window, so that no step takes longer than a frame.
 */
import type { RootContent } from "mdast";
import { createDefinitionCollector, type DefinitionCollector, type Definitions } from "./definitions.ts";
import { findLineStart, parsePiece } from "./parse-markdown.ts";

/** One top-level block, or some items of a long list. */
export interface MarkdownBlock {
  /** Position among the blocks. It does not change once the block is kept. */
  readonly key: number;
  readonly node: RootContent;
  /** Its items continue those of the previous block: it is the same list. */
  readonly isContinued: boolean;
}

export interface BlockParser {
  /**
   * Takes the text so far and does one step of work.
   * @param isComplete the text has ended: names that were defined late are resolved again
   * @returns whether more work is left for this text
   */
  step(source: string, isComplete: boolean): boolean;
  /** Blocks so far. Kept ones keep their identity. */
  readonly blocks: readonly MarkdownBlock[];
  /** Text after the blocks that no step has reached yet. */
  readonly rest: string;
  readonly definitions: Definitions;
}

/** UTF-16 units that one step parses: about 15 ms. */
const windowSize = 3072;
/** From this number on, the items of a list are kept one by one. */
const longList = 2048;
/** A single block above this is not parsed but shown as source. */
const blockLimit = 16_384;
/** Kept blocks that one step parses again. */
const refreshSize = 4;

export function createBlockParser(): BlockParser {
  return new IncrementalBlockParser();
}

/** What can be kept on its own: a top-level block, or a part of a long list. */
interface Unit {
  readonly node: RootContent;
  /** First UTF-16 unit of its first line in the piece. */
  readonly start: number;
  readonly isContinued: boolean;
}

interface KeptBlock extends MarkdownBlock {
  readonly source: string;
}

class IncrementalBlockParser implements BlockParser {
  blocks: readonly MarkdownBlock[] = [];
  rest = "";
  definitions: DefinitionCollector = createDefinitionCollector();
  #kept: KeptBlock[] = [];
  /** Everything before it in the source is kept. */
  #keptText = "";
  #window = windowSize;
  /** What follows the kept blocks are further items of the previous list. */
  #isInList = false;
  /** Kept blocks that may use a name that was defined only after they were parsed. */
  #stale = 0;
  #refreshed = 0;

  step(source: string, isComplete: boolean): boolean {
    if (!source.startsWith(this.#keptText)) this.#reset();
    const begin = this.#keptText.length;
    const windowEnd = begin + this.#window;
    const end = windowEnd < source.length ? Math.max(findLineStart(source, windowEnd), begin) : source.length;
    const open = end > begin ? this.#parse(source.slice(begin, end), end === source.length) : [];
    this.rest = source.slice(end);
    this.blocks = [...this.#kept, ...open];
    if (end < source.length) {
      if (this.#keptText.length === begin) this.#window *= 2;
      return true;
    }
    return isComplete && this.#refresh(open);
  }

  #reset(): void {
    this.definitions = createDefinitionCollector();
    this.#kept = [];
    this.#keptText = "";
    this.#window = windowSize;
    this.#isInList = false;
    this.#stale = 0;
    this.#refreshed = 0;
  }

  /** Keeps what is final in a piece and returns its open blocks. */
  #parse(piece: string, isLast: boolean): MarkdownBlock[] {
    if (piece.length > blockLimit) return this.#passOver(piece, isLast);
    // A block on a line that is still being written may turn out to belong to the block before it.
    const finalEnd = isLast ? findLineStart(piece, piece.length) : piece.length;
    const units = this.#toUnits(piece, finalEnd);
    let open = units.length - 1;
    while (open > 0 && (toDecision(units[open]!, piece) >= finalEnd || isJoined(units, open, piece))) open -= 1;
    for (let index = 0; index < open; index += 1) {
      this.#keep(units[index]!, piece.slice(units[index]!.start, units[index + 1]!.start));
    }
    if (open > 0) {
      this.#keptText += piece.slice(0, units[open]!.start);
      this.#window = windowSize;
      this.#isInList = units[open]!.isContinued;
    }
    return this.#toOpenBlocks(units.slice(Math.max(open, 0)));
  }

  #toUnits(piece: string, finalEnd: number): Unit[] {
    const { links, footnotes } = this.definitions;
    const { nodes, toLineStart } = parsePiece(piece, { links: links.keys(), footnotes: footnotes.keys() });
    const units = nodes.map((node, index): Unit => {
      const isContinued = index === 0 && this.#isInList && node.type === "list";
      return { node, start: toLineStart(node), isContinued };
    });
    const [only] = units;
    if (only?.node.type !== "list" || units.length > 1 || piece.length < longList) return units;
    const { node: list } = only;
    const starts = list.children.map((item) => toLineStart(item));
    const last = starts.findLastIndex((start) => start < finalEnd);
    if (last < 1) return units;
    return [
      { ...only, node: { ...list, children: list.children.slice(0, last) } },
      { node: { ...list, children: list.children.slice(last) }, start: starts[last]!, isContinued: true },
    ];
  }

  #toOpenBlocks(units: readonly Unit[]): MarkdownBlock[] {
    const blocks: MarkdownBlock[] = [];
    for (const unit of units) {
      blocks.push(toBlock(unit, this.#kept.length + blocks.length, blocks.at(-1) ?? this.#kept.at(-1)));
    }
    return blocks;
  }

  /** A block that is too long to be parsed while it grows is shown as source. */
  #passOver(piece: string, isLast: boolean): MarkdownBlock[] {
    const node: RootContent = { type: "html", value: piece };
    if (isLast) return [{ key: this.#kept.length, node, isContinued: false }];
    this.#keep({ node, start: 0, isContinued: false }, "");
    this.#keptText += piece;
    this.#window = windowSize;
    this.#isInList = false;
    return [];
  }

  #keep(unit: Unit, source: string): void {
    this.#kept.push({ ...toBlock(unit, this.#kept.length, this.#kept.at(-1)), source });
    if (this.definitions.add(unit.node)) this.#stale = this.#kept.length;
  }

  /** Parses kept blocks again, a few per step, that may use names defined after them. */
  #refresh(open: readonly MarkdownBlock[]): boolean {
    for (const { node } of open) if (this.definitions.add(node)) this.#stale = this.#kept.length;
    let left = refreshSize;
    while (this.#refreshed < this.#stale && left > 0) {
      const block = this.#kept[this.#refreshed]!;
      if (block.source.includes("[")) {
        left -= 1;
        this.#kept[this.#refreshed] = { ...block, node: this.#parseAgain(block) };
      }
      this.#refreshed += 1;
    }
    this.blocks = [...this.#kept, ...open];
    return this.#refreshed < this.#stale;
  }

  #parseAgain({ node, source }: KeptBlock): RootContent {
    const { links, footnotes } = this.definitions;
    const [again, ...others] = parsePiece(source, { links: links.keys(), footnotes: footnotes.keys() }).nodes;
    if (again === undefined || others.length > 0 || again.type !== node.type) return node;
    return again.type === "list" && node.type === "list" ? { ...again, start: node.start ?? null } : again;
  }
}

/** First unit of the line that determines the type of a block: of a table the second, since its first may end a paragraph. */
function toDecision({ node, start }: Unit, piece: string): number {
  if (node.type !== "table") return start;
  const [firstLine] = /^.*(?:\r\n|\n|\r)?/.exec(piece.slice(start))!;
  return start + firstLine.length;
}

/** To the parser, definitions and the text directly below them were one paragraph. */
function isJoined(units: readonly Unit[], index: number, piece: string): boolean {
  if (units[index - 1]!.node.type !== "definition") return false;
  const between = piece.slice(units[index - 1]!.start, units[index]!.start).replace(/(?:\r\n|\n|\r)$/, "");
  return !/[\n\r][\t ]*$/.test(between);
}

/** A continued list continues the numbering. */
function toBlock({ node, isContinued }: Unit, key: number, before: MarkdownBlock | undefined): MarkdownBlock {
  const list = before?.node;
  if (!isContinued || node.type !== "list" || list?.type !== "list" || typeof list.start !== "number") {
    return { key, node, isContinued };
  }
  return { key, node: { ...node, start: list.start + list.children.length }, isContinued };
}
