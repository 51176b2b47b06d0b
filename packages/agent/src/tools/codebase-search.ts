/** codebase_search: places in the code that match a question, by their words. */
import * as s from "@sheaf/protocol/schema";
import type { CodePlace, CodeSearchResult } from "../workspace/codebase/code-search.ts";
import { toLine } from "@sheaf/base/files/read-folder";
import { toCancelledOutcome, toFailedOutcome, toFailure } from "./failure.ts";
import { resolvePlace } from "./resolve-folder.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

const parameters = s.object({
  query: s.string({
    minLength: 1,
    description: "What to look for: names and words likely to be in the code and around it",
  }),
  target_directories: s.optional(
    s.list(s.string({ description: "Folder or file in the workspace" }), {
      minItems: 0,
      maxItems: 20,
      description: "Where to look; default: everywhere",
    }),
  ),
});

/** Ranked by an index of words; it knows no synonyms, and says so if nothing matches. */
export const codebaseSearchTool: Tool<s.ValueOf<typeof parameters>> = {
  name: "codebase_search",
  description:
    "Find the places in the code that match a question best, when you do not know the exact text. Returns ranked pieces of files. Words are compared, not meanings. For an exact text or a pattern, use grep_search.",
  access: "read",
  paths: { folders: ["target_directories"] },
  words: ["Searched files", "Dateien durchsucht", "Dosyalarda arandı", "ファイルを検索しました", "已搜尋檔案"],
  kind: "search",
  comesWith: "Grep",
  parameters,
  async run({ query, target_directories = [] }, { workspace, codebase, signal }) {
    if (!codebase) return toFailure("SEARCH_FAILED", "no index exists here: use grep_search");
    const named = target_directories.filter((folder) => folder.trim() !== "");
    const folders: string[] = [];
    for (const folder of named.length === 0 ? ["."] : named) {
      const place = resolvePlace(workspace, folder);
      if (!place.ok) return toFailedOutcome(place.error);
      folders.push(place.value.path.relative);
    }
    try {
      const result = await codebase.search(query, { workspace, folders }, signal);
      return signal.aborted ? toCancelledOutcome() : toOutcome(result);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return toFailure("SEARCH_FAILED", `the index could not be used (${reason}): use grep_search`);
    }
  },
};

function toOutcome({ places, words, files, waiting }: CodeSearchResult): ToolOutcome {
  const notes: string[] = [];
  if (places.length === 0) {
    notes.push(
      `${files} files were searched. Words are compared, not meanings: try the names that the code would use.`,
    );
  }
  if (waiting > 0) {
    notes.push(
      `${waiting} of ${files + waiting} files are not in the index yet. The next search continues with them: search again, or use grep_search.`,
    );
  }
  const output =
    places.length === 0 ? `Nothing fits ${words.join(", ") || "the query"}.` : places.map(formatPlace).join("\n\n");
  return { status: "success", output, ...(notes.length > 0 && { note: notes.join(" ") }) };
}

function formatPlace({ path, startLine, endLine, text }: CodePlace): string {
  return `${toLine(path)}:${startLine}-${endLine}\n${text.trimEnd()}`;
}
