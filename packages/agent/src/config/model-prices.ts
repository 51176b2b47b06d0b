/** A model's price, from the user or else from a dated list that is part of Sheaf (C163). */
import type { TokenPrice } from "@sheaf/protocol";
import type { ModelSettings } from "./endpoints.ts";

/** Providers with known prices, by the first part of model names, and their names in the list. */
const listedProviders: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic"],
  ["openai", "openai"],
  ["openai-chat", "openai"],
  ["google", "google"],
  ["openrouter", "openrouter"],
]);

/** Undefined if no price is known. Only the user knows prices at another address. `time`: milliseconds since 1970. */
export async function findModelPrice(
  name: string,
  { flags, config }: Pick<ModelSettings, "flags" | "config">,
  time: number,
): Promise<TokenPrice | undefined> {
  const own = config.settings.prices?.[name];
  const [first = "", ...rest] = name.split("/");
  const provider = listedProviders.get(first);
  if (own || provider === undefined || flags.baseUrl !== undefined) return own;
  // The list takes 30 ms to load.
  const { calcPrice } = await import("@pydantic/genai-prices");
  const options = { providerId: provider, timestamp: new Date(time) };
  const listed = calcPrice({}, rest.join("/"), options)?.model_price;
  const [input, output] = [toBase(listed?.input_mtok), toBase(listed?.output_mtok)];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead, cacheWrite] = [toBase(listed?.cache_read_mtok), toBase(listed?.cache_write_mtok)];
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** Some prices rise with the size of a request. A run has one price, so it is that of small requests. */
function toBase(price: number | { readonly base: number } | undefined): number | undefined {
  return typeof price === "object" ? price.base : price;
}
