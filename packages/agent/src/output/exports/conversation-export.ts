/** A conversation as `sheaf export` writes it: its logs, from which everything else is derived. */
import type { RunEvent } from "@sheaf/protocol";

/** Version of the format, `Major`. */
export const exportVersion = 1;

/** One response with its whole log. */
export interface ExportedResponse {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly events: readonly RunEvent[];
}

export interface ConversationExport {
  readonly sheafExport: typeof exportVersion;
  readonly conversation: {
    readonly id: string;
    readonly workspace: string;
    readonly title: string;
    readonly createdAt: number;
  };
  /** Responses, oldest first. */
  readonly responses: readonly ExportedResponse[];
}

/** Formats an export with one line a response, so that people can compare and search it. */
export function formatJsonExport({ sheafExport, conversation, responses }: ConversationExport): string {
  const rows = responses.map((response) => JSON.stringify(response)).join(",\n");
  return `{"sheafExport":${sheafExport},"conversation":${JSON.stringify(conversation)},"responses":[\n${rows}\n]}\n`;
}
