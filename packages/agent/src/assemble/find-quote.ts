/** Finds the place of the lines that a model quotes. */
import type { Permissions } from "@sheaf/permissions/permissions";
import type { QuoteFinder } from "../run/model-turn.ts";
import { readFileTool } from "../tools/read-file.ts";
import { listSpellings } from "../tools/real-arguments.ts";
import { findQuotedText, isQuotedExactly } from "@sheaf/base/files/read-file";
import type { Workspace } from "@sheaf/base/files/workspace";

/** Looks for a quote elsewhere in a file only if the model may read that file: it learns the place (N61). */
export function createQuoteFinder(workspace: Workspace, permissions: Permissions, signal: AbortSignal): QuoteFinder {
  const mayRead = async (filePath: string): Promise<boolean> => {
    const spellings = listSpellings({ files: [filePath], folders: [] }, workspace);
    const decisions = spellings.map((paths) => permissions.decide({ tool: readFileTool, arguments: {}, paths }));
    return (await Promise.all(decisions)).every(({ decision }) => decision === "allow");
  };
  return async (quote) => {
    const { filePath, startLine, endLine } = quote;
    if (await isQuotedExactly(workspace, quote, signal)) return { startLine, endLine };
    return (await mayRead(filePath)) ? findQuotedText(workspace, quote) : undefined;
  };
}
