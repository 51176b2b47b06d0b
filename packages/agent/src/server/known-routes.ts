/** Which methods an address takes, so that a wrong method is told from a wrong address. */
import { listOperations } from "../output/openapi.ts";

/** A route by the path of a request. */
export interface KnownRoute {
  /** As in the description of the API: `/v1/responses/{id}`. */
  readonly path: string;
  readonly methods: readonly string[];
}

const patterns: (KnownRoute & { readonly pattern: RegExp })[] = [];
for (const [path, methods] of listOperations()) {
  const pattern = new RegExp(`^${path.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  patterns.push({ path, methods, pattern });
}

/** Undefined: no route of the API; it may be one of the page. */
export function findRoute(path: string): KnownRoute | undefined {
  return patterns.find(({ pattern }) => pattern.test(path));
}
