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

/** JSON pointers to the file, to its content, and to the new string of an edit with its number. */
const target = new RegExp(`^/(?:(${pathArguments.join("|")})|content|edits/(\\d+)/new_string)$`);

/** Reads `content`, or the new strings of `edits`, joined with line ends. */
export function createFileEditDraft(): FileEditDraft {
  const scanner = createJsonScanner();
  /** The argument that the last event was about: nearly always it is that of the next one too. */
  let pointer = "";
  let found: RegExpExecArray | null = null;
  let lastEdit = "0";
  let pathText = "";
  let path: string | undefined;
  return {
    get path() {
      return path;
    },
    push: (delta) => {
      let content = "";
      for (const event of scanner.push(delta)) {
        if (event.path !== pointer) {
          pointer = event.path;
          found = target.exec(pointer);
          const edit = found?.[2] ?? lastEdit;
          if (edit !== lastEdit) content += "\n";
          lastEdit = edit;
        }
        const text = event.type === "string_delta" ? event.delta : "";
        if (found?.[1] === undefined) {
          if (found !== null) content += text;
        } else if (path === undefined) {
          pathText += text;
          if (event.type === "string_end") path = pathText;
        }
      }
      return content;
    },
  };
}
