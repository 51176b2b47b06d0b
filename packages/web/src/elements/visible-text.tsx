import { toVisibleParts } from "./hidden-characters.ts";

/** Foreign text with nothing hidden: invisible characters are shown as code points. */
export function VisibleText({ text }: { readonly text: string }) {
  return (
    <>
      {toVisibleParts(text).map(({ text: part, code }) =>
        code === undefined ? part : <span class="hidden-character">{code}</span>,
      )}
    </>
  );
}
