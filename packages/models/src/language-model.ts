/** Models of other packages, as the library accepts them. */

/** Any language model of the AI SDK's packages, described here so that Sheaf does not need them. */
export interface LanguageModel {
  /** Version of the interface: `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}
