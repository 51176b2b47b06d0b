import { createElement, type ComponentChild } from "preact";
import { useLoaded } from "../elements/use-loaded.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { loadTypeset } from "./load-math.ts";
import type { MathNode } from "./typeset.ts";

interface FormulaProps {
  /** Source in TeX. */
  readonly source: string;
  readonly isDisplay: boolean;
}

/** A formula as MathML, with elements made by the page (S-113); its source before it has loaded, or if it isn't TeX. */
export function Formula({ source, isDisplay }: FormulaProps) {
  const tree = useLoaded(async () => (await loadTypeset())?.(source, isDisplay), [source, isDisplay]);
  const shown = tree === undefined ? <VisibleText as="code" text={source} /> : renderMath(tree);
  if (!isDisplay) return <span class="formula">{shown}</span>;
  return (
    <span class="formula display" tabIndex={0} role="group" aria-label={source}>
      {shown}
    </span>
  );
}

function renderMath(node: MathNode): ComponentChild {
  if (typeof node === "string") return node;
  return createElement(node.name, node.attributes, ...node.children.map(renderMath));
}
