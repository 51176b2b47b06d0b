/** Highlights code with one grammar. Loaded with the first grammar. */
import type { Nodes, Root } from "hast";
import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";

export interface Highlighter {
  /** Returns one array of tokens per line; joined, they are the code. */
  toLines(code: string): TokenLine[];
}

/** A run of text of one kind, for instance `keyword`; "" for none. */
interface Token {
  readonly text: string;
  readonly kind: string;
}

export type TokenLine = readonly Token[];

export function createHighlighter(grammar: string, language: LanguageFn): Highlighter {
  const lowlight = createLowlight({ [grammar]: language });
  return { toLines: (code) => toTokenLines(lowlight.highlight(grammar, code)) };
}

/** Turns the highlighter's tree into lines of tokens. */
function toTokenLines(root: Root): TokenLine[] {
  const lines: Token[][] = [[]];
  addNode(root, "", lines);
  return lines;
}

function addNode(node: Nodes, kind: string, lines: Token[][]): void {
  if (node.type === "text") {
    for (const [index, text] of node.value.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)!.push({ text, kind });
    }
  }
  if (!("children" in node)) return;
  const inner = node.type === "element" ? (readKind(node.properties["className"]) ?? kind) : kind;
  for (const child of node.children) addNode(child, inner, lines);
}

/** Returns the first kind without its prefix: `hljs-title function_` is a `title`. */
function readKind(names: unknown): string | undefined {
  const [first] = Array.isArray(names) ? (names as unknown[]) : [];
  return typeof first === "string" && first.startsWith("hljs-") ? first.slice(5) : undefined;
}
