/** Keyboard and screen of a conversation: line editing at the prompt, and below a running answer (C63). */
import { emitKeypressEvents, type Interface, type Key } from "node:readline";
import type { Completion } from "./complete-line.ts";
import { cut, editLine, emptyLine, insertText, moveLine, rewriteLine, toKeyName } from "./line-buffer.ts";
import { layOut, toReflowedRow, toTail, toWidth, toWindow, type Layout } from "./lay-out.ts";
import type { PromptHistory } from "./prompt-history.ts";

/** The user's input. `interrupt`: Ctrl-C; `end`: Ctrl-D on an empty line, or a closed terminal. */
type TypedInput =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

interface ConsoleOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly history: PromptHistory;
  readonly complete: (before: string) => Promise<Completion>;
  /** Sends the signal of Ctrl-C during an answer, or of Ctrl-Z. */
  readonly sendSignal: (name: "SIGINT" | "SIGTSTP") => void;
}

const prompt = "› ";

/** Milliseconds between two keys of an unmarked paste at most, and half of the wait for a sequence after Esc. */
const PAUSE_MS = 25;

/** Moves the cursor to the end of the answer, and deletes the row below. */
const toAnswer = "\u001B8\u001B[J";
/** Remembers the end of the answer, and moves to a row below. */
const fromAnswer = "\u001BD\u001B[A\u001B7\r\n";

export class LineConsole {
  readonly #options: ConsoleOptions;
  #state: "idle" | "prompt" | "answer" = "idle";
  #line = emptyLine;
  #resolve: (input: TypedInput) => void = () => undefined;
  #cancel: () => void = () => undefined;
  /** Lines that the user sent during an answer. */
  #queue: string[] = [];
  #hasEnded = false;
  /** The drawn rows at the prompt. */
  #drawn: Layout | undefined;
  /** True if a row below the answer is on the screen. */
  #isRowShown = false;
  /** The text of a marked paste that hasn't ended. */
  #paste: string | undefined;
  /** Timer after Enter: a key before its end belongs to a paste. */
  #burst: NodeJS.Timeout | undefined;
  /** True if that Enter was the only key. */
  #isAlone = false;
  /** Position in the history, from its end; 0: the draft. */
  #back = 0;
  #draft = emptyLine;
  #search: { readonly query: string; readonly skip: number } | undefined;
  #completion: (Completion & { readonly next: number }) | undefined;

  /** Starts to read keys. */
  constructor(options: ConsoleOptions) {
    this.#options = options;
    const { input, output } = options;
    // The first program part that requests key events sets the wait after Esc.
    emitKeypressEvents(input, { escapeCodeTimeout: 2 * PAUSE_MS } as unknown as Interface);
    input.on("end", this.#onEnd);
    output.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    this.#listen();
  }

  /** True if the line has unsent text. */
  get #isTyping(): boolean {
    return this.#line.text !== "";
  }

  /** Returns the oldest line sent during an answer, or otherwise the next one. */
  read(): Promise<TypedInput> {
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      this.#print(`${layOut(prompt, { text: queued, cursor: 0 }, this.#columns).rows.join("\n")}\n`);
      return Promise.resolve({ kind: "text", text: queued });
    }
    if (this.#hasEnded) return Promise.resolve({ kind: "end" });
    this.#state = "prompt";
    this.#draw();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Runs `work`, with the user's line below its output. `onCancel` is for Esc. */
  async attend<Result>(work: () => Promise<Result>, onCancel: () => void): Promise<Result> {
    this.#state = "answer";
    this.#cancel = onCancel;
    this.#showRow();
    try {
      return await work();
    } finally {
      this.#hideRow();
      this.#state = "idle";
    }
  }

  /** Writes above the user's line. */
  write(text: string): void {
    this.#hideRow();
    this.#print(text);
    this.#showRow();
  }

  /** Leaves the keyboard to `ask`. */
  async yield<Result>(ask: () => Promise<Result>): Promise<Result> {
    const state = this.#state;
    this.#hideRow();
    this.#state = "idle";
    this.#unlisten();
    try {
      return await ask();
    } finally {
      this.#listen();
      this.#state = state;
      this.#showRow();
    }
  }

  close(): void {
    const { input, output } = this.#options;
    this.#unlisten();
    input.off("end", this.#onEnd);
    output.off("resize", this.#onResize);
    process.off("SIGCONT", this.#onContinue);
    input.pause();
  }

  #listen(): void {
    this.#setRaw(true);
    this.#options.input.on("keypress", this.#onKey).resume();
  }

  #unlisten(): void {
    clearTimeout(this.#burst);
    this.#burst = undefined;
    this.#options.input.off("keypress", this.#onKey);
    this.#setRaw(false);
  }

  /** Sets raw mode, in which the terminal marks a paste. */
  #setRaw(isRaw: boolean): void {
    this.#options.input.setRawMode(isRaw);
    this.#print(`\u001B[?2004${isRaw ? "h" : "l"}`);
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#resolve({ kind: "end" });
  };

  readonly #onContinue = (): void => {
    this.#setRaw(true);
    this.#drawn = undefined;
    this.#refresh();
  };

  /** Removes the row: after a resize, the remembered place is wrong, and the answer continues in this row instead. */
  readonly #onResize = (): void => {
    if (this.#isRowShown) this.#print("\r\u001B[J");
    this.#isRowShown = false;
    this.#refresh();
  };

  readonly #onKey = (character: string | undefined, key: Key): void => {
    const { name, sequence = "" } = key;
    if (name === "paste-start") this.#paste = "";
    else if (this.#paste === undefined) this.#takeKey(character, key);
    else if (name === "paste-end") {
      this.#completion = undefined;
      this.#insert(this.#paste.replaceAll(/\r\n?/g, "\n"));
      this.#paste = undefined;
    } else if (!sequence.startsWith("\u001B")) this.#paste += sequence;
    if (this.#paste === undefined) this.#refresh();
  };

  /** Handles a key. Enter sends only if no key follows at once, because some terminals don't mark a paste. */
  #takeKey(character: string | undefined, key: Key): void {
    const isEnter = toKeyName(key) === "return" && !this.#search;
    const isPaste = this.#burst !== undefined;
    if (isPaste && this.#isAlone) this.#insert("\n");
    if (isPaste && isEnter) this.#insert("\n");
    if (!isEnter) this.#edit(character, key);
    if (!isEnter && !isPaste) return;
    this.#isAlone = !isPaste;
    clearTimeout(this.#burst);
    this.#burst = setTimeout(() => {
      this.#burst = undefined;
      if (this.#isAlone) this.#enter();
      this.#refresh();
    }, PAUSE_MS);
  }

  #edit(character: string | undefined, key: Key): void {
    if (this.#search && this.#takeSearchKey(character, key)) return;
    const name = toKeyName(key);
    if (name === "tab" && this.#state !== "idle") {
      void this.#completeNext();
      return;
    }
    this.#completion = undefined;
    const isPrompt = this.#state === "prompt";
    switch (name) {
      case "C-c":
        return this.#interrupt();
      case "escape":
      case "M-escape":
        if (this.#state !== "answer") return;
        this.#unqueue();
        return this.#cancel();
      case "C-d":
        if (isPrompt && !this.#isTyping) return this.#leave({ kind: "end" });
        break;
      case "C-z":
        this.#setRaw(false);
        this.#options.sendSignal("SIGTSTP");
        // No SIGCONT arrives in a shell without job control, where the program doesn't stop.
        setImmediate(this.#onContinue);
        return;
      case "C-l":
        if (!isPrompt) return;
        this.#print("\u001B[H\u001B[2J");
        this.#drawn = undefined;
        return;
      case "C-r":
        if (isPrompt) this.#search = { query: "", skip: 0 };
        return;
      case "up":
      case "C-p":
        return this.#move(-1);
      case "down":
      case "C-n":
        return this.#move(1);
    }
    this.#line = editLine(this.#line, character, key) ?? this.#line;
  }

  #insert(text: string): void {
    this.#line = insertText(this.#line, text);
  }

  #enter(): void {
    this.#completion = undefined;
    const { text, cursor, killed } = this.#line;
    if (text[cursor - 1] === "\\") return this.#replaceFrom(cursor - 1, "\n");
    const sent = text.replace(/\n+$/, "");
    this.#line = { ...this.#line, text: sent };
    if (this.#state === "prompt") this.#leave({ kind: "text", text: sent });
    else if (this.#state === "answer" && sent.trim() !== "") this.#queue.push(sent);
    else return;
    this.#line = { ...emptyLine, killed };
    this.#back = 0;
  }

  /** Ends the prompt; its text stays on the screen. */
  #leave(input: TypedInput): void {
    this.#line = rewriteLine(this.#line, this.#line.text);
    this.#draw();
    this.#drawn = undefined;
    this.#state = "idle";
    this.#print("\n");
    this.#resolve(input);
  }

  #interrupt(): void {
    if (this.#state !== "prompt") {
      this.#unqueue();
      this.#options.sendSignal("SIGINT");
    } else if (this.#isTyping) this.#line = { ...emptyLine, killed: this.#line.text };
    else this.#leave({ kind: "interrupt" });
  }

  /** Puts the sent lines back into the line, because a user who cancels an answer may want others. */
  #unqueue(): void {
    this.#line = rewriteLine(this.#line, [...this.#queue, this.#line.text].filter(Boolean).join("\n"));
    this.#queue = [];
  }

  /** Moves to another line of the text, or otherwise of the history. */
  #move(step: -1 | 1): void {
    const { entries } = this.#options.history;
    const back = this.#back - step;
    const moved = moveLine(this.#line, step);
    if (moved) this.#line = moved;
    if (moved || back < 0 || back > entries.length) return;
    if (this.#back === 0) this.#draft = this.#line;
    this.#line = back === 0 ? this.#draft : rewriteLine(this.#line, entries.at(-back) ?? "");
    this.#back = back;
  }

  /** Returns the history's newest match of the search, or an older one after `skip` different ones. */
  get #found(): string | undefined {
    const { query = "", skip = 0 } = this.#search ?? {};
    if (query === "") return undefined;
    const found = [...new Set(this.#options.history.entries.toReversed())].filter((entry) => entry.includes(query));
    return found[Math.min(skip, found.length - 1)];
  }

  /** True if the key belongs to the search. Enter and keys that move put the match into the line, unsent. */
  #takeSearchKey(character: string | undefined, key: Key): boolean {
    const { query, skip } = this.#search!;
    const name = toKeyName(key);
    if (name === "C-r") this.#search = { query, skip: skip + 1 };
    else if (name === "backspace" || name === "C-h") this.#search = { query: query.slice(0, -1), skip: 0 };
    else if (name === "C-c" || name === "C-g" || name === "escape") this.#search = undefined;
    else if (editLine(emptyLine, character, key)?.text === character) {
      this.#search = { query: query + character, skip: 0 };
    } else {
      this.#line = rewriteLine(this.#line, this.#found ?? this.#line.text);
      this.#search = undefined;
      return name === "return" || name === "tab";
    }
    return true;
  }

  /** Completes the shared start of all candidates, and after that one candidate after another. */
  async #completeNext(): Promise<void> {
    const line = this.#line;
    const known = this.#completion;
    if (known) {
      const { start, candidates, next } = known;
      this.#replaceFrom(start, candidates[next % candidates.length]!);
      this.#completion = { ...known, next: next + 1 };
    } else {
      const { start, candidates } = await this.#options.complete(line.text.slice(0, line.cursor));
      const [first, second] = candidates;
      if (this.#line !== line || first === undefined) return;
      const shared = toSharedStart(candidates);
      if (second === undefined) this.#replaceFrom(start, first.endsWith("/") ? first : `${first} `);
      else if (shared.length > line.cursor - start) this.#replaceFrom(start, shared);
      if (second !== undefined) this.#completion = { start, candidates, next: 0 };
    }
    this.#refresh();
  }

  /** Replaces the text from `start` to the cursor. */
  #replaceFrom(start: number, text: string): void {
    this.#line = insertText(cut(this.#line, start), text);
  }

  get #columns(): number {
    return this.#options.output.columns || 80;
  }

  #print(text: string): void {
    this.#options.output.write(text);
  }

  #refresh(): void {
    if (this.#state === "prompt") this.#draw();
    if (this.#state === "answer") this.write("");
  }

  /** Draws the prompt. */
  #draw(): void {
    const columns = this.#columns;
    const up = this.#drawn ? toReflowedRow(this.#drawn, columns) : 0;
    const hints = toHints(this.#completion?.candidates ?? [], columns);
    const lead = this.#search ? `(search: ${this.#search.query}) ` : prompt;
    const shown = this.#search ? rewriteLine(this.#line, this.#found ?? this.#line.text) : this.#line;
    const rows = (this.#options.output.rows || 24) - 1 - hints.length;
    const layout = toWindow(layOut(lead, shown, columns), Math.max(1, rows));
    const down = layout.rows.length + hints.length - 1 - layout.cursorRow;
    const right = layout.cursorColumn > 0 ? `\u001B[${layout.cursorColumn}C` : "";
    this.#print(`\r${toUp(up)}\u001B[J${[...layout.rows, ...hints].join("\r\n")}\r${toUp(down)}${right}`);
    this.#drawn = layout;
  }

  /** Draws the row below an answer. */
  #showRow(): void {
    if (this.#state !== "answer" || (!this.#isTyping && this.#queue.length === 0)) return;
    const lead = this.#queue.length === 0 ? prompt : `(${this.#queue.length} to be sent) ${prompt}`;
    const tail = toTail(this.#line.text.slice(0, this.#line.cursor), this.#columns - toWidth(lead));
    this.#print(`${fromAnswer}${lead}${tail}`);
    this.#isRowShown = true;
  }

  #hideRow(): void {
    if (this.#isRowShown) this.#print(toAnswer);
    this.#isRowShown = false;
  }
}

function toUp(rows: number): string {
  return rows > 0 ? `\u001B[${rows}A` : "";
}

function toSharedStart(candidates: readonly string[]): string {
  let shared = candidates[0] ?? "";
  for (const candidate of candidates) while (!candidate.startsWith(shared)) shared = shared.slice(0, -1);
  return shared;
}

/** Returns rows with one candidate each. */
function toHints(candidates: readonly string[], columns: number): string[] {
  const shown = candidates.slice(0, 8).map((candidate) => `  ${toTail(candidate, columns - 3)}`);
  const rest = candidates.length - shown.length;
  return rest > 0 ? [...shown, `  … ${rest} more`] : shown;
}
