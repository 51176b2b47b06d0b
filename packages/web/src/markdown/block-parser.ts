/**
 * Parses Markdown that grows. Blocks that can no longer change are parsed once and kept; only the open end
 * is parsed again. Long texts are parsed window by window, so that no step takes longer than a frame.
 */
import type { Nodes, RootContent } from "mdast";
import { copyText } from "../elements/copy-text.ts";
import { createDefinitionCollector, type DefinitionCollector, type Definitions } from "./definitions.ts";
import { findLineStart, parsePiece } from "./parse-markdown.ts";

/** One top-level block, or some items of a long list. */
export interface MarkdownBlock {
  /** Position among the blocks, constant for a final block. */
  readonly key: number;
  readonly node: RootContent;
  /** True if its items continue the list of the previous block. */
  readonly isContinued: boolean;
  /** Length of its source, in UTF-16 units. */
  readonly size: number;
}

export interface BlockParser {
  /**
   * Takes the text up to now and does one step of work.
   * @param isComplete the text has ended: blocks that use names defined after them are parsed again
   * @returns true if more work is left for this text
   */
  step(source: string, isComplete: boolean): boolean;
  /** Blocks up to now. A final block stays the same object. */
  readonly blocks: readonly MarkdownBlock[];
  /** Text after the blocks that no step has reached yet. */
  readonly rest: string;
  readonly definitions: Definitions;
}

/** Number of UTF-16 units that one step parses, unless a block is longer: about 2 ms, and garbage that dies young. */
const windowSize = 1024;
/** Number of UTF-16 units from which the parser keeps the items of a list one by one. */
const longList = 2048;
/** Number of UTF-16 units above which a block stays unparsed: the page shows its source. */
const blockLimit = 16_384;
/** Number of UTF-16 units in one part of unparsed source. */
const partSize = 4096;
/** Number of kept blocks that one step parses again. */
const refreshSize = 4;

export function createBlockParser(): BlockParser {
  return new IncrementalBlockParser();
}

/** The smallest part that can be kept: a top-level block, or some items of a long list. */
interface Unit {
  readonly node: RootContent;
  /** Index of the first UTF-16 unit of its first line in the piece. */
  readonly start: number;
  readonly isContinued: boolean;
}

/** Blocks after the kept ones, and the index of the first unit that the step did not reach. */
interface Step {
  readonly open: MarkdownBlock[];
  readonly end: number;
}

interface KeptBlock extends MarkdownBlock {
  readonly source: string;
}

class IncrementalBlockParser implements BlockParser {
  rest = "";
  definitions: DefinitionCollector = createDefinitionCollector();
  #kept: KeptBlock[] = [];
  #open: readonly MarkdownBlock[] = [];
  /** All blocks, until the next step. */
  #blocks: readonly MarkdownBlock[] | undefined;
  /** The text of the last step. */
  #source = "";
  /** Length of the text before the first open block. */
  #end = 0;
  #window = windowSize;
  /** True if the text after the kept blocks continues their list. */
  #isInList = false;
  /** True if the text after the kept blocks, up to a blank line, belongs to a block too long to be parsed. */
  #isInSource = false;
  /** Number of kept blocks that may use a name defined after they were parsed. */
  #stale = 0;
  #refreshed = 0;

  get blocks(): readonly MarkdownBlock[] {
    this.#blocks ??= [...this.#kept, ...this.#open];
    return this.#blocks;
  }

  step(source: string, isComplete: boolean): boolean {
    if (source !== this.#source && source.slice(0, this.#end) !== this.#source.slice(0, this.#end)) this.#reset();
    this.#source = source;
    const begin = this.#end;
    const { open, end } = this.#isInSource ? this.#takeSource() : this.#takeWindow();
    this.rest = source.slice(end);
    this.#open = open;
    this.#blocks = undefined;
    if (end < source.length) {
      if (this.#end === begin) this.#window *= 2;
      return true;
    }
    return isComplete && this.#refresh();
  }

  #reset(): void {
    this.definitions = createDefinitionCollector();
    this.#kept = [];
    this.#end = 0;
    this.#window = windowSize;
    this.#isInList = false;
    this.#isInSource = false;
    this.#stale = 0;
    this.#refreshed = 0;
  }

  /** Parses one window of the text. `end`: index of the first unit after it. */
  #takeWindow(): Step {
    const source = this.#source;
    const begin = this.#end;
    const windowEnd = begin + this.#window;
    const end = windowEnd < source.length ? Math.max(findLineStart(source, windowEnd), begin) : source.length;
    if (Math.min(windowEnd, source.length) - begin > blockLimit) {
      this.#isInSource = true;
      this.#isInList = false;
      this.#window = windowSize;
      return this.#takeSource();
    }
    return { open: end > begin ? this.#parse(copyText(source.slice(begin, end)), end === source.length) : [], end };
  }

  /** Keeps one part of an overlong block as source. */
  #takeSource(): Step {
    const piece = copyText(this.#source.slice(this.#end, this.#end + partSize));
    const blank = /(?:\r\n|\n|\r(?!\n))[\t ]*(?:\r\n?|\n)/.exec(piece);
    const isOpen = blank === null && piece.length < partSize;
    const part = blank === null ? piece.slice(0, findPartEnd(piece)) : piece.slice(0, blank.index + blank[0].length);
    const unit: Unit = { node: { type: "html", value: part }, start: 0, isContinued: false };
    if (isOpen) return { open: this.#toOpenBlocks([unit], piece), end: this.#source.length };
    this.#keep(unit, part);
    this.#end += part.length;
    this.#isInSource = blank === null;
    return { open: [], end: this.#end };
  }

  /** Keeps the final blocks of a piece and returns its open blocks. */
  #parse(piece: string, isLast: boolean): MarkdownBlock[] {
    // A block on an unfinished line may turn out to belong to the block before it.
    const finalEnd = isLast ? findLineStart(piece, piece.length) : piece.length;
    const units = this.#toUnits(piece, finalEnd);
    let open = units.length - 1;
    while (open > 0 && (toDecision(units[open]!, piece) >= finalEnd || isJoined(units, open, piece))) open -= 1;
    for (let index = 0; index < open; index += 1) {
      this.#keep(units[index]!, piece.slice(units[index]!.start, units[index + 1]!.start));
    }
    if (open > 0) {
      this.#end += units[open]!.start;
      this.#window = windowSize;
      this.#isInList = units[open]!.isContinued;
    }
    return this.#toOpenBlocks(units.slice(Math.max(open, 0)), piece);
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

  #toOpenBlocks(units: readonly Unit[], piece: string): MarkdownBlock[] {
    const blocks: MarkdownBlock[] = [];
    for (const [index, unit] of units.entries()) {
      const size = (units[index + 1]?.start ?? piece.length) - unit.start;
      blocks.push(toBlock(unit, size, this.#kept.length + index, blocks.at(-1) ?? this.#kept.at(-1)));
    }
    return blocks;
  }

  #keep(unit: Unit, source: string): void {
    dropPositions(unit.node);
    this.#kept.push({ ...toBlock(unit, source.length, this.#kept.length, this.#kept.at(-1)), source });
    if (this.definitions.add(unit.node)) this.#stale = this.#kept.length;
  }

  /** Parses kept blocks again, a few per step, that may use names defined after them. */
  #refresh(): boolean {
    for (const { node } of this.#open) if (this.definitions.add(node)) this.#stale = this.#kept.length;
    let left = refreshSize;
    while (this.#refreshed < this.#stale && left > 0) {
      const block = this.#kept[this.#refreshed]!;
      if (block.source.includes("[")) {
        left -= 1;
        this.#kept[this.#refreshed] = { ...block, node: this.#parseAgain(block) };
      }
      this.#refreshed += 1;
    }
    return this.#refreshed < this.#stale;
  }

  #parseAgain({ node, source }: KeptBlock): RootContent {
    const { links, footnotes } = this.definitions;
    const [again, ...others] = parsePiece(source, { links: links.keys(), footnotes: footnotes.keys() }).nodes;
    if (again === undefined || others.length > 0 || again.type !== node.type) return node;
    dropPositions(again);
    return again.type === "list" && node.type === "list" ? { ...again, start: node.start ?? null } : again;
  }
}

/** Returns the start of the line that determines a block's type: the second one of a table, otherwise the first one. */
function toDecision({ node, start }: Unit, piece: string): number {
  if (node.type !== "table") return start;
  const [firstLine] = /^.*(?:\r\n|\n|\r)?/.exec(piece.slice(start))!;
  return start + firstLine.length;
}

/** True if the parser saw definitions and the text directly below them as one paragraph. */
function isJoined(units: readonly Unit[], index: number, piece: string): boolean {
  if (units[index - 1]!.node.type !== "definition") return false;
  const between = piece.slice(units[index - 1]!.start, units[index]!.start).replace(/(?:\r\n|\n|\r)$/, "");
  return !/[\n\r][\t ]*$/.test(between);
}

/** Makes a block of a unit. A continued list continues the numbering. */
function toBlock(unit: Unit, size: number, key: number, before: MarkdownBlock | undefined): MarkdownBlock {
  const { node, isContinued } = unit;
  const list = before?.node;
  if (!isContinued || node.type !== "list" || list?.type !== "list" || typeof list.start !== "number") {
    return { key, node, isContinued, size };
  }
  return { key, node: { ...node, start: list.start + list.children.length }, isContinued, size };
}

/** Deletes the positions, which take more memory than the rest of a tree. */
function dropPositions(node: Nodes): void {
  node.position = undefined;
  if ("children" in node) for (const child of node.children) dropPositions(child);
}

/** Returns the length of a part: up to the piece's last blanks, or at least not within a character. */
function findPartEnd(piece: string): number {
  const blanks = /\s+\S*$/.exec(piece.slice(-1024));
  if (blanks !== null) return piece.length - blanks[0].length;
  return /[\uD800-\uDBFF]$/.test(piece) ? piece.length - 1 : piece.length;
}
