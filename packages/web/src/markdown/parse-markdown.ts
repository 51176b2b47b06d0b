/** Parses Markdown to a tree: CommonMark with GitHub's extensions. Raw HTML becomes a text node. */
import type { Nodes, Root, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { Construct, ConstructRecord } from "micromark-util-types";
import { formulas, formulasFromMarkdown } from "../math/parse-math.ts";

const gfmSyntax = gfm({ singleTilde: false });
const gfmTrees = gfmFromMarkdown();

/** Matches each text with a table: a bar, or a row of rules with a colon. */
const tableSign = /\||:-|-:/;
/** Matches each text with a bare address, or with a character reference that may be part of one. */
const addressSign = /[@&]|http|www/i;

/**
 * Options of the parser, by the possible presence of tables and of bare addresses. The parser looks for both
 * at nearly every line and letter: without them, it needs half the time and a third of the memory.
 */
const options = [false, true].map((hasTables) =>
  [false, true].map((hasAddresses) => ({
    extensions: [
      {
        ...gfmSyntax,
        ...(!hasTables && { flow: dropConstructs(gfmSyntax.flow, "table") }),
        ...(!hasAddresses && { text: dropConstructs(gfmSyntax.text, "Autolink") }),
      },
      formulas,
    ],
    mdastExtensions: [
      hasAddresses ? gfmTrees : gfmTrees.filter(({ transforms }) => transforms === undefined),
      formulasFromMarkdown,
    ],
  })),
);

/** Returns the constructs whose names don't have this ending. */
function dropConstructs(constructs: ConstructRecord = {}, ending: string): ConstructRecord {
  const keep = ({ name = "" }: Construct): boolean => !name.endsWith(ending);
  return Object.fromEntries(
    Object.entries(constructs).map(([code, one]) => [code, (Array.isArray(one) ? one : one ? [one] : []).filter(keep)]),
  );
}

/** Names that a text defines for its links (`[a]: …`) and footnotes (`[^a]: …`), as the parser normalises them. */
export interface DefinedNames {
  readonly links: Iterable<string>;
  readonly footnotes: Iterable<string>;
}

/** A piece of a text, parsed with the names that the rest of the text defines. */
export interface ParsedPiece {
  readonly nodes: readonly RootContent[];
  /** Returns the index of the first UTF-16 unit, within the piece, of the node's first line. */
  readonly toLineStart: (node: Nodes) => number;
}

/** Parses a whole text, at about 2 µs per character. Text on which the parser fails becomes one raw text node. */
export function parseMarkdown(source: string): Root {
  try {
    return fromMarkdown(source, options[Number(tableSign.test(source))]![Number(addressSign.test(source))]);
  } catch {
    // The parser fails on some texts (`-`, then `[x]` and `a` on the next lines); no answer may crash the page.
    return { type: "root", children: [{ type: "html", value: source }] };
  }
}

/** Parses a piece that starts at a top-level block. */
export function parsePiece(piece: string, defined: DefinedNames): ParsedPiece {
  const prefix = toDefinitions(piece, defined);
  const { children } = parseMarkdown(prefix + piece);
  const toOffset = (node: Nodes): number => (node.position?.start.offset ?? prefix.length) - prefix.length;
  return {
    nodes: prefix === "" ? children : children.filter((node) => toOffset(node) >= 0),
    toLineStart: (node) => findLineStart(piece, toOffset(node)),
  };
}

/** Returns definitions of the names that the piece may use. The rule after them separates the piece from them. */
function toDefinitions(piece: string, { links, footnotes }: DefinedNames): string {
  const folded = piece.includes("[") ? foldName(piece) : "";
  const isUsed = (name: string): boolean => folded.includes(name);
  const lines = [
    ...[...links].filter(isUsed).map((name) => `[${name}]: <x>`),
    ...[...footnotes].filter(isUsed).map((name) => `[^${name}]: x`),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n***\n\n`;
}

/** Normalises names as CommonMark compares them: white space as one blank, case folded. */
function foldName(text: string): string {
  return text
    .replaceAll(/[\t\n\r ]+/g, " ")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
}

/** Returns the start of the line that contains `offset`, because a block may be indented by up to three blanks. */
export function findLineStart(text: string, offset: number): number {
  if (offset <= 0) return 0;
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  // The slice limits the search to this line: without carriage returns, it would run through the whole text.
  return start + text.slice(start, offset).lastIndexOf("\r") + 1;
}
