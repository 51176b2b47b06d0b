/** Reads lines from the person at the terminal, with editing and a history. */
import { createInterface, type Interface } from "node:readline";

/** What the person did. `interrupt`: Ctrl-C; `end`: Ctrl-D on an empty line, or the terminal was closed. */
type TypedInput =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

export interface LineReader {
  /** Raw mode is on only while it reads. */
  read(prompt: string): Promise<TypedInput>;
}

/** How long a paste may pause between two lines. Milliseconds. */
const PASTE_PAUSE_MS = 25;

/** `complete` returns the words that may come next. */
export function createLineReader(complete: (line: string) => readonly string[]): LineReader {
  let history: string[] = [];
  return {
    async read(prompt) {
      const terminal = createInterface({
        input: process.stdin,
        output: process.stdout,
        terminal: true,
        history,
        removeHistoryDuplicates: true,
        prompt,
        completer: (line: string) => [[...complete(line)], line],
      });
      terminal.on("history", (lines: string[]) => {
        history = [...lines];
      });
      try {
        return await readInput(terminal);
      } finally {
        terminal.close();
      }
    },
  };
}

/** Lines of a paste arrive together and belong together; a backslash at the end of a line continues on the next one. */
function readInput(terminal: Interface): Promise<TypedInput> {
  const { promise, resolve } = Promise.withResolvers<TypedInput>();
  const lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const submit = (): void => {
    const asksForMore = lines.at(-1)?.endsWith("\\") ?? false;
    // The rest after the last line end of a paste stays in the editor.
    if (terminal.line !== "" || asksForMore) return;
    resolve({ kind: "text", text: lines.map((line) => line.replace(/\\$/, "")).join("\n") });
  };
  terminal.on("line", (line) => {
    lines.push(line);
    clearTimeout(timer);
    timer = setTimeout(submit, PASTE_PAUSE_MS);
  });
  terminal.on("SIGINT", () => {
    if (terminal.line === "" && lines.length === 0) {
      resolve({ kind: "interrupt" });
      return;
    }
    lines.length = 0;
    terminal.write(null, { ctrl: true, name: "e" });
    terminal.write(null, { ctrl: true, name: "u" });
  });
  terminal.on("close", () => resolve({ kind: "end" }));
  terminal.prompt();
  return promise;
}
