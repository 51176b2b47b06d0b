/** The part of commonmark.js that the tests and the benchmark use; the package has no types. */
declare module "commonmark" {
  export interface Node {
    readonly type: string;
    readonly literal: string | null;
    /** First and last line and column, from 1. */
    readonly sourcepos: readonly [readonly [number, number], readonly [number, number]];
    readonly parent: Node | null;
    readonly firstChild: Node | null;
    readonly next: Node | null;
    /** Of a fence; null of indented code. */
    readonly info: string | null;
    walker(): { next(): { readonly entering: boolean; readonly node: Node } | null };
  }
  export class Parser {
    parse(text: string): Node;
  }
  export class HtmlRenderer {
    render(node: Node): string;
  }
}
