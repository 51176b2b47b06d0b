/** What a model is writing into a file, read from arguments that are not complete. */
import { createJsonScanner } from "./incremental-json.ts";

export interface FileEditDraft {
  /** Takes a piece of the arguments' JSON text; gives the new content in it. */
  push(delta: string): string;
  /** The file, as the model wrote it, once that argument is complete. */
  readonly path: string | undefined;
}

/** Arguments that name the file, in the order in which they count. */
export const pathArguments = ["target_file", "source_file", "file_path", "path"] as const;

const pathPointers: ReadonlySet<string> = new Set(pathArguments.map((name) => `/${name}`));

/**
 * Reads `content`, or the new string of the first edit as long as there is no second one: the content of an edit is
 * the text between its first and its last place (N31), and only a single edit has it before the file is read.
 */
export function createFileEditDraft(): FileEditDraft {
  const scanner = createJsonScanner({ depth: 3 });
  let text = "";
  let path: string | undefined;
  let single = true;
  return {
    push(delta) {
      let content = "";
      for (const event of scanner.push(delta)) {
        if (event.path.startsWith("/edits/1")) single = false;
        if (event.type === "string_end" && pathPointers.has(event.path)) path ??= text;
        if (event.type !== "string_delta") continue;
        if (path === undefined && pathPointers.has(event.path)) text += event.delta;
        else if (event.path === "/content" || (event.path === "/edits/0/new_string" && single)) content += event.delta;
      }
      return content;
    },
    get path() {
      return path;
    },
  };
}
