/** The port between a live model and the packages that write requests. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ProviderEndpoint } from "../endpoint.ts";

/**
 * Makes the request writer of one family of providers. Nothing is sent by it: every request goes to `fetch`.
 * One file of this folder exports one such function, so that only the family that is used is loaded.
 */
export type CreateLanguageModel = (endpoint: ProviderEndpoint, fetch: typeof globalThis.fetch) => LanguageModelV4;

/**
 * Stands where a package wants a key and the endpoint has none: without it the package would look into the environment.
 * Its headers are taken out before anything is sent.
 */
export const absentKey = "no-key";
