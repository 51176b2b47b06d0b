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

const newString = /^\/edits\/([0-9]+)\/new_string$/;

/** Reads `content`, or the new strings of `edits`, joined with line ends. */
export function createFileEditDraft(): FileEditDraft {
  return new Draft();
}

class Draft implements FileEditDraft {
  path: string | undefined;
  readonly #scanner = createJsonScanner({ depth: 3 });
  #pathText = "";
  /** Number of the edit whose new string came last. */
  #edit = "0";

  push(delta: string): string {
    let content = "";
    for (const event of this.#scanner.push(delta)) {
      const text = event.type === "string_delta" ? event.delta : "";
      const edit = newString.exec(event.path)?.[1];
      if (event.path === "/content") content += text;
      else if (edit !== undefined) content += this.#toLineEnd(edit) + text;
      else if (pathPointers.has(event.path)) this.#takePath(text, event.type === "string_end");
    }
    return content;
  }

  #takePath(text: string, isEnd: boolean): void {
    if (this.path !== undefined) return;
    this.#pathText += text;
    if (isEnd) this.path = this.#pathText;
  }

  /** Between the new strings of two edits. */
  #toLineEnd(edit: string): string {
    if (edit === this.#edit) return "";
    this.#edit = edit;
    return "\n";
  }
}
