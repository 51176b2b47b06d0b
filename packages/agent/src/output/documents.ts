/** `--output-format documents` and `documents-stream` (C2, X15). */
import { createAssembler } from "@sheaf/documents";
import { createReducer, type StreamEvent } from "@sheaf/protocol";
import { encodeNdjson } from "@sheaf/protocol/encode";
import type { Projection } from "./projection.ts";

/** Options of both formats. */
export interface DocumentsOptions {
  /** `--include-thinking` (C12, N14). */
  readonly includeThinking?: boolean;
}

/** The response as one JSON object at the end; also if the run failed: its last document says why (N2). */
export function createDocumentsProjection(options: DocumentsOptions = {}): Projection {
  const assembler = createAssembler({ includeReasoning: options.includeThinking ?? false });
  const reducer = createReducer();
  return {
    push(event) {
      for (const streamEvent of assembler.push(event)) reducer.push(streamEvent);
      return event.type === "run_end" ? [encodeNdjson(reducer.response)] : [];
    },
  };
}

/** The events as NDJSON, one `{"id","event","data"}` per line. */
export function createDocumentsStreamProjection(options: DocumentsOptions = {}): Projection {
  const assembler = createAssembler({ includeReasoning: options.includeThinking ?? false });
  return {
    push: (event) => assembler.push(event).map((streamEvent: StreamEvent) => encodeNdjson(streamEvent)),
  };
}
