/**
 * Replaces the global `Headers` in the bundles of the provider packages, which only write requests: the first use of the
 * global class loads all of `fetch`, which takes 25 ms. `scripts/build.ts` puts it in.
 */

type HeadersLike = { readonly entries: () => Iterable<readonly [string, string]> };
type Given = HeadersLike | Iterable<readonly [string, string]> | Readonly<Record<string, string>> | undefined;

class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(given?: Given) {
    for (const [name, value] of toEntries(given)) this.append(name, value);
  }

  append(name: string, value: string): void {
    const known = this.get(name);
    this.set(name, known === null ? value : `${known}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(callback: (value: string, name: string) => void): void {
    for (const [name, value] of this) callback(value, name);
  }

  entries(): Iterator<[string, string]> & Iterable<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.entries();
  }
}

function toEntries(given: Given): Iterable<readonly [string, string]> {
  if (given === undefined) return [];
  if (Symbol.iterator in given) return given;
  return "entries" in given && typeof given.entries === "function" ? given.entries() : Object.entries(given);
}

export { LightHeaders as Headers };
