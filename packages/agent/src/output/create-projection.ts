/** From the name of a format to its projection (C2). */
import type { Locale } from "./action-words.ts";
import { createDocumentsProjection, createDocumentsStreamProjection } from "./documents.ts";
import { createJsonProjection } from "./json.ts";
import type { OutputFormat, Projection } from "./projection.ts";
import { createStreamJsonProjection } from "./stream-json.ts";
import { createTextProjection } from "./text.ts";

/** Options that the formats share. */
export interface ProjectionOptions {
  readonly locale: Locale;
  readonly includeThinking: boolean;
}

/** A fresh projection of one run. */
export function createProjection(format: OutputFormat, options: ProjectionOptions): Projection {
  switch (format) {
    case "text":
      return createTextProjection(options);
    case "json":
      return createJsonProjection();
    case "stream-json":
      return createStreamJsonProjection(options);
    case "documents":
      return createDocumentsProjection(options);
    case "documents-stream":
      return createDocumentsStreamProjection(options);
  }
}
