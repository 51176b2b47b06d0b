import { type ComponentChildren, createElement, type HTMLAttributes } from "preact";
import { toVisibleParts } from "./hidden-characters.ts";

interface VisibleTextProps extends HTMLAttributes {
  readonly text: string;
  /** Tag of the element around the text; absent: no element. */
  readonly as?: "span" | "p" | "code" | "div" | "pre" | "li" | "mark";
}

/** Untrusted text with its invisible characters visible as code points. */
export function VisibleText({ text, as, ...attributes }: VisibleTextProps) {
  const parts = toVisibleParts(text).map(({ text: part, code }) =>
    code === undefined ? part : <span class="hidden-character">{code}</span>,
  );
  return as === undefined ? <>{parts}</> : createElement(as, attributes, parts);
}

/** Characters that reorder their neighbours, or that have no width and no use in code. */
const misleading = /([\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF])/;

/** Returns code with its misleading characters visible as code points; other characters stay as they are. */
export function toVisibleCode(text: string): ComponentChildren {
  if (!misleading.test(text)) return text;
  return text.split(misleading).map((part, index) => (index % 2 === 1 ? <VisibleText text={part} /> : part));
}

/** A sentence of Sheaf, with text between backticks as code. */
export function CodedText({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split(/(`[^`\n]+`)/)
        .map((part, index) =>
          index % 2 === 1 ? <VisibleText as="code" text={part.slice(1, -1)} /> : <VisibleText text={part} />,
        )}
    </>
  );
}
