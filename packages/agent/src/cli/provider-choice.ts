/** The provider that a word of the command line names. */
import type { Provider } from "../config/providers.ts";
import { SheafError } from "../base/errors.ts";
import { findNearest } from "../base/nearest-names.ts";

/**
 * The word is not repeated where it may be a key that was put into the wrong place (S-41).
 * @throws SheafError USAGE for an unknown one, with those that are known.
 */
export function chooseProvider(
  word: string,
  providers: ReadonlyMap<string, Provider>,
  { repeatsWord = true }: { readonly repeatsWord?: boolean } = {},
): Provider {
  // `anthropic/…` is what one has at hand.
  const provider = providers.get(word) ?? providers.get(word.split("/", 1)[0]!);
  if (provider) return provider;
  const nearest = findNearest(word, [...providers.keys()]);
  const question = nearest.length === 0 ? "" : `did you mean ${nearest.join(" or ")}? `;
  throw new SheafError(
    "USAGE",
    `the provider ${repeatsWord ? `"${word}" ` : ""}is unknown: ${question}use one of ${[...providers.keys()].join(", ")}`,
  );
}
