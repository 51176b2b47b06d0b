/**
 * Stands in for zod in the bundles of the provider packages. They describe answers and options by it, dozens of schemas at
 * every start, but an answer they never see, and the options are ours: nothing is ever to be refused. `scripts/build.ts`
 * puts it in; `test/conformance/request-writers.test.ts` compares what is written with and without it.
 */

/** Does for any schema: whatever is called on it, or read from it, is it again. */
const inert: object = new Proxy(() => inert, {
  get(_, key) {
    // Not to be taken for a promise, and to be passed over in a loop.
    if (key === "then") return undefined;
    if (key === Symbol.iterator) return () => [].values();
    if (key === Symbol.toPrimitive) return () => "";
    return key === "~standard" ? { version: 1, vendor: "zod", validate: (value: unknown) => ({ value }) } : inert;
  },
  has: (_, key) => key === "_zod" || key === "~standard",
});

/** The makers of schemas. */
export const z = inert;

/** Takes everything as it is. */
export async function safeParseAsync(_schema: unknown, value: unknown): Promise<object> {
  return { success: true, data: value };
}

/** Settings of zod: none. */
export function config(): object {
  return {};
}

export function toJSONSchema(): object {
  return {};
}
