/** From the name of a format to its projection (C2). */
import { createMessageProjection, type ProjectionOptions } from "./create-message-projection.ts";
import { createDocumentsProjection, createDocumentsStreamProjection } from "./documents.ts";
import type { OutputFormat, Projection } from "./projection.ts";

/** A fresh projection of one run. */
export function createProjection(format: OutputFormat, options: ProjectionOptions): Projection {
  if (format === "documents") return createDocumentsProjection(options);
  if (format === "documents-stream") return createDocumentsStreamProjection(options);
  return createMessageProjection(format, options);
}
