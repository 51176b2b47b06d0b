/** Turns TeX into a tree of MathML, only with known elements and harmless values (S-113). Loaded on demand. */
import temml from "temml";

const { __renderToMathMLTree: toTree } = temml;

/** An element, or a text. */
export type MathNode = string | MathElement;

interface MathElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly MathNode[];
}

/** A node of the library's tree, before it becomes text or elements. */
interface ForeignNode {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly classes?: readonly unknown[];
  readonly children?: readonly ForeignNode[];
}

const elements = new Set(
  (
    "math mrow mfrac mi mo mn mtext mspace msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd " +
    "mpadded mphantom mstyle menclose ms mmultiscripts mprescripts none"
  ).split(" "),
);
const attributes = new Set(
  (
    "display displaystyle scriptlevel width height depth voffset lspace rspace stretchy fence form movablelimits accent " +
    "accentunder mathvariant mathcolor mathbackground mathsize linethickness minsize maxsize symmetric largeop separator " +
    "columnalign rowspacing columnspacing columnspan rowspan"
  ).split(" "),
);
/** Matches values without brackets, so without addresses. */
const harmlessValue = /^[\w.#% ]{1,40}$|^-[0-2]?(?:\.\d+)?em$/;
const knownClass = /^(?:tml-(?:left|right|overline|underline|cancel|jot)|upstrike|downstrike)$/;

/** Matches definitions of macros. A few of them can make millions of tokens before the library's limits apply. */
const definition =
  /(?<!\\)(?:\\\\)*\\(?:[egx]?def|(?:future)?let|global|long|(?:new|renew|provide)command)(?![A-Za-z@])/;
/** Matches format characters that change the order of the following text. */
const reordering = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;

const mostDepth = 100;
const mostElements = 5000;

/** Returns the formula's MathML; undefined if it isn't TeX, is too large, or defines macros. */
export function typeset(source: string, isDisplay: boolean): MathElement | undefined {
  if (definition.test(source)) return undefined;
  try {
    const tree = toTree(source, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      maxSize: [10, 10],
      maxExpand: 200,
    }) as ForeignNode;
    const left = { elements: mostElements };
    const [root] = keepKnown(tree, 0, left);
    return typeof root === "object" && root.name === "math" ? root : undefined;
  } catch {
    return undefined;
  }
}

/** Copies the known parts of a tree. @throws Error if the tree is too large, or reorders its text */
function keepKnown(node: ForeignNode, depth: number, left: { elements: number }): readonly MathNode[] {
  left.elements -= 1;
  if (depth > mostDepth || left.elements < 0) throw new Error("the formula is too large");
  if (typeof node.text === "string") {
    if (reordering.test(node.text)) throw new Error("the formula would hide what it says");
    return [node.text];
  }
  const children = (node.children ?? []).flatMap((child) => keepKnown(child, depth + 1, left));
  // A fragment or an unknown element is replaced by its children.
  if (typeof node.type !== "string" || !elements.has(node.type)) return children;
  const kept = Object.entries(node.attributes ?? {}).flatMap(([name, value]) => {
    const text = String(value);
    return attributes.has(name) && harmlessValue.test(text) ? [[name, text] as const] : [];
  });
  const names = (node.classes ?? []).flatMap((name) => (typeof name === "string" ? name.split(" ") : []));
  const known = names.filter((name) => knownClass.test(name)).join(" ");
  return [
    { name: node.type, attributes: { ...Object.fromEntries(kept), ...(known !== "" && { class: known }) }, children },
  ];
}
