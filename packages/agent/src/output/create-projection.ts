/** Creates the projection of any format (C2), even of `documents` and `documents-stream` (X15). */
import { createAssembler } from "@sheaf/documents";
import { createReducer } from "@sheaf/protocol";
import { encodeNdjson } from "@sheaf/protocol/encode";
import { createMessageProjection, type ProjectionOptions } from "./create-message-projection.ts";
import type { OutputFormat, Projection } from "./projection.ts";

export function createProjection(format: OutputFormat, options: ProjectionOptions): Projection {
  if (format !== "documents" && format !== "documents-stream") return createMessageProjection(format, options);
  const assembler = createAssembler({ includeReasoning: options.includeThinking });
  if (format === "documents-stream") return { push: (event) => assembler.push(event).map(encodeNdjson) };
  const reducer = createReducer();
  return {
    // A failed run has a response as well: its last document has the reason (N2).
    push(event) {
      for (const streamEvent of assembler.push(event)) reducer.push(streamEvent);
      return event.type === "run_end" ? [encodeNdjson(reducer.response)] : [];
    },
  };
}
