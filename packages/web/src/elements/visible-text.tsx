import { toVisibleParts } from "./hidden-characters.ts";

/** Foreign text in which nothing is hidden: invisible characters are shown by their numbers. */
export function VisibleText({ text }: { readonly text: string }) {
  return (
    <>
      {toVisibleParts(text).map(({ text: part, code }) =>
        code === undefined ? part : <span class="hidden-character">{code}</span>,
      )}
    </>
  );
}
