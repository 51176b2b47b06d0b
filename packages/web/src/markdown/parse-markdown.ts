/** Markdown to a tree: CommonMark with the extensions of GitHub. Raw HTML stays a node of text. */
import type { Nodes, Root, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

const options = { extensions: [gfm({ singleTilde: false })], mdastExtensions: [gfmFromMarkdown()] };

/** Names that a text defines for its links (`[a]: …`) and footnotes (`[^a]: …`), as the parser normalises them. */
export interface DefinedNames {
  readonly links: Iterable<string>;
  readonly footnotes: Iterable<string>;
}

/** A piece of a text, parsed as if the names that the text defines elsewhere were defined in it. */
export interface ParsedPiece {
  readonly nodes: readonly RootContent[];
  /** First UTF-16 unit, within the piece, of the line in which a node of it begins. */
  readonly toLineStart: (node: Nodes) => number;
}

/** Parses a whole text, about 5 µs a character. What the parser cannot take is one node of raw text. */
export function parseMarkdown(source: string): Root {
  try {
    return fromMarkdown(source, options);
  } catch {
    // The parser fails on some texts (`-`, then `[x]` and `a` on the next lines): no answer may end the page.
    return { type: "root", children: [{ type: "html", value: source }] };
  }
}

/** Parses a piece that begins where a top-level block begins. */
export function parsePiece(piece: string, defined: DefinedNames): ParsedPiece {
  const prefix = toDefinitions(piece, defined);
  const { children } = parseMarkdown(prefix + piece);
  const toOffset = (node: Nodes): number => (node.position?.start.offset ?? prefix.length) - prefix.length;
  return {
    nodes: prefix === "" ? children : children.filter((node) => toOffset(node) >= 0),
    toLineStart: (node) => findLineStart(piece, toOffset(node)),
  };
}

/** Defines the names that the piece may use. The rule behind them keeps the piece from being read as part of them. */
function toDefinitions(piece: string, { links, footnotes }: DefinedNames): string {
  const folded = foldName(piece);
  const isUsed = (name: string): boolean => folded.includes(name);
  const lines = [
    ...[...links].filter(isUsed).map((name) => `[${name}]: <x>`),
    ...[...footnotes].filter(isUsed).map((name) => `[^${name}]: x`),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n***\n\n`;
}

/** As CommonMark compares names: white space as one blank, case folded. */
function foldName(text: string): string {
  return text
    .replaceAll(/[\t\n\r ]+/g, " ")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
}

/** First unit of the line that holds `offset`: blocks may be indented by up to three blanks. */
export function findLineStart(text: string, offset: number): number {
  if (offset <= 0) return 0;
  return Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
}
