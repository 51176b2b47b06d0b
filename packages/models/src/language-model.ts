/** The models of other packages, as the library takes them. */

/** Any language model of the AI SDK, as its packages make them; described here so that no package of it is needed. */
export interface LanguageModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}
