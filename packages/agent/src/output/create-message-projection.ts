/** Creates the projection of a format (C2), except for formats of documents, which are large to load. */
import type { Locale } from "../tools/tool-traits.ts";
import { createCursorStreamProjection, type PartialOutput } from "./cursor-stream.ts";
import { createJsonProjection } from "./json.ts";
import type { CliProfile, OutputFormat, Projection } from "./projection.ts";
import { createStreamJsonProjection } from "./stream-json.ts";
import { createTextProjection } from "./text.ts";

export interface ProjectionOptions {
  readonly locale: Locale;
  readonly includeThinking: boolean;
  /** The profile (C30); default `sheaf`. */
  readonly profile?: CliProfile;
  /** True for `sheaf show`: `text` and `json` include a run's failure, which otherwise is on stderr (C21, C31). */
  readonly showsFailure?: boolean;
  /** `--stream-partial-output`, which only `cursor-2026` needs. */
  readonly partial?: PartialOutput | undefined;
}

export type MessageFormat = Exclude<OutputFormat, "documents" | "documents-stream">;

export function createMessageProjection(format: MessageFormat, options: ProjectionOptions): Projection {
  const isCursor = options.profile === "cursor-2026";
  switch (format) {
    case "text":
      return createTextProjection({ ...options, showsActions: !isCursor });
    case "json":
      return createJsonProjection(options);
    case "stream-json":
      return isCursor ? createCursorStreamProjection(options) : createStreamJsonProjection(options);
  }
}
