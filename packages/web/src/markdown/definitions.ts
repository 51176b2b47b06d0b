/** Definitions of links and footnotes in Markdown trees. */
import type { Definition, FootnoteDefinition, Nodes } from "mdast";

export interface Definitions {
  /** Link definitions by identifier; the first one in the text wins. */
  readonly links: ReadonlyMap<string, Definition>;
  readonly footnotes: ReadonlyMap<string, FootnoteDefinition>;
}

export interface DefinitionCollector extends Definitions {
  /** Adds the definitions in a tree; returns true if a name is new. */
  add(node: Nodes): boolean;
}

export function createDefinitionCollector(): DefinitionCollector {
  const links = new Map<string, Definition>();
  const footnotes = new Map<string, FootnoteDefinition>();
  const add = (node: Nodes): boolean => {
    if (node.type === "definition") return addFirst(links, node);
    let isNew = node.type === "footnoteDefinition" && addFirst(footnotes, node);
    if ("children" in node) for (const child of node.children) isNew = add(child) || isNew;
    return isNew;
  };
  return { links, footnotes, add };
}

function addFirst<Node extends { readonly identifier: string }>(map: Map<string, Node>, node: Node): boolean {
  if (map.has(node.identifier)) return false;
  map.set(node.identifier, node);
  return true;
}
