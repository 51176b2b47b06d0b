/** Finds words in a conversation: in all its rows, drawn or not, and their places in a drawn row. */
import { isJsonObject } from "@sheaf/protocol/check-value";
import type { ArrangedRow } from "./arrange-rows.ts";
import type { Row } from "./rows.ts";

/** Names of fields that no view of a document shows. */
const unseen = /id$|ids$|^(?:hash|sha256|mediaType|status|state|kind|type|language|format|source|signature)$/i;

/** Depth up to which unknown metadata is searched. */
const mostDepth = 6;

/** Number of places marked in one row. */
const mostPlaces = 1000;

/**
 * Returns a pattern for words in any case, with any blanks between them; undefined for blanks alone.
 * @param isSource Markdown's marks may stand between the characters
 */
export function toFindPattern(query: string, isSource = false): RegExp | undefined {
  const characters = [...query.trim().slice(0, 200).replaceAll(/\s+/g, " ")];
  if (characters.length === 0) return undefined;
  const escaped = characters.map((each) => (each === " " ? "\\s+" : each.replace(/[$()*+.?[\\\]^{|}/]/, "\\$&")));
  // Marks before a mark would match in many ways, so that a row of them could take years.
  const toGap = (at: number): string => (isSource && at > 0 && !/[*_`~]/.test(characters[at]!) ? "[*_`~]{0,3}" : "");
  return new RegExp(escaped.map((each, at) => toGap(at) + each).join(""), "giu");
}

/** Creates a finder of the rows that contain some words. The searched texts live as long as their rows. */
export function createRowFinder(): (rows: readonly Row[], query: string) => readonly Row[] {
  const texts = new WeakMap<Row, string>();
  return (rows, query) => {
    const pattern = toFindPattern(query, true);
    if (pattern === undefined) return [];
    return rows.filter((row) => {
      const text = texts.get(row) ?? toRowText(row);
      texts.set(row, text);
      return text.search(pattern) >= 0;
    });
  };
}

function toRowText(row: Row): string {
  if (row.kind === "message") return [row.message, ...(row.attachments ?? []).map(({ name }) => name)].join("\n");
  if (row.kind === "reasoning") return row.reasoning?.text ?? "";
  return row.kind === "document" || row.kind === "hook" ? listTexts(row).join("\n") : "";
}

function listTexts(row: ArrangedRow): readonly string[] {
  if (row.kind === "hook") return collectTexts(row.report, 0);
  const { content, metadata } = row.document;
  return [...collectTexts([content, metadata], 0), ...(row.parts ?? []).flatMap(listTexts)];
}

function collectTexts(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return [value];
  if (depth > mostDepth) return [];
  if (Array.isArray(value)) return value.flatMap((each) => collectTexts(each, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => (unseen.test(name) ? [] : collectTexts(each, depth + 1)));
}

/** Returns the places of the words in a row's visible text. */
export function findPlaces(element: Element, pattern: RegExp): readonly Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(".unseen, .line-numbers, .diff-number, .diff-sign") ? 2 : 1,
  );
  const nodes: { readonly node: Node; readonly from: number }[] = [];
  let text = "";
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, from: text.length });
    text += walker.currentNode.nodeValue ?? "";
  }
  let at = 0;
  const toPoint = (offset: number): readonly [Node, number] => {
    while (nodes[at + 1] !== undefined && nodes[at + 1]!.from <= offset) at += 1;
    return [nodes[at]!.node, offset - nodes[at]!.from];
  };
  return [...text.matchAll(pattern)].slice(0, mostPlaces).map(({ 0: found, index }) => {
    const range = document.createRange();
    range.setStart(...toPoint(index));
    const [node, offset] = toPoint(index + found.length - 1);
    range.setEnd(node, offset + 1);
    return range;
  });
}
