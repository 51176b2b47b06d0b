/**
 * Replaces zod in the bundles of the provider packages, which saves 10 to 20 ms of a start. They create dozens of schemas
 * for answers, which they never see, and for options, which are ours: nothing needs to be checked. `scripts/build.ts` puts
 * it in; `test/conformance/request-writers.test.ts` compares the requests with and without it.
 */

/** Serves as any schema: every call and every property of it gives the same object. */
const inert: object = new Proxy(() => inert, {
  get(_, key) {
    // It is not a promise, and an empty list in a loop.
    if (key === "then") return undefined;
    if (key === Symbol.iterator) return () => [].values();
    if (key === Symbol.toPrimitive) return () => "";
    return key === "~standard" ? { version: 1, vendor: "zod", validate: (value: unknown) => ({ value }) } : inert;
  },
  has: (_, key) => key === "_zod" || key === "~standard",
});

/** The functions that create schemas. */
export const z = inert;

/** Accepts every value. */
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
