/** The keyboard and the screen of a conversation: a line with editing at the prompt, and what is typed during an answer (C63). */
import { emitKeypressEvents, type Interface } from "node:readline";
import type { Completion } from "./complete-line.ts";
import { editLine, emptyLine, insertText, moveLine, toKeyName, type Key, type Line } from "./line-buffer.ts";
import { layOut, toReflowedRow, toTail, toWidth, toWindow, type Layout } from "./lay-out.ts";
import type { PromptHistory } from "./prompt-history.ts";

/** What the person did. `interrupt`: Ctrl-C; `end`: Ctrl-D on an empty line, or the terminal was closed. */
type TypedInput =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

export interface LineConsole {
  /** What was typed during an answer, or else the next line. */
  read(): Promise<TypedInput>;
  /** While `work` runs, the line that is typed stays below what it writes. `onCancel`: Esc. */
  attend<Result>(work: () => Promise<Result>, onCancel: () => void): Promise<Result>;
  /** Writes above the line that is typed. */
  write(text: string): void;
  /** Lets `ask` read the keys. */
  yield<Result>(ask: () => Promise<Result>): Promise<Result>;
  /** Whether something is in the line that was not sent. */
  readonly isTyping: boolean;
  close(): void;
}

export interface ConsoleOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly history: PromptHistory;
  readonly complete: (before: string) => Promise<Completion>;
  /** Ctrl-C during an answer, as if the terminal sent the signal; and Ctrl-Z. */
  readonly sendSignal: (name: "SIGINT" | "SIGTSTP") => void;
}

const prompt = "› ";

/** Longest gap between two keys of a paste in terminals that do not mark one; and how long Esc waits for what may follow it. Milliseconds. */
const PAUSE_MS = 25;

const pasteOn = "\u001B[?2004h";
const pasteOff = "\u001B[?2004l";
/** To where the answer goes on, with nothing below it. */
const toAnswer = "\u001B8\u001B[J";
/** Makes room for a row below, and remembers where the answer goes on. */
const fromAnswer = "\u001BD\u001B[A\u001B7\r\n";

/** Reads keys from now on. */
export function createLineConsole(options: ConsoleOptions): LineConsole {
  return new KeyConsole(options);
}

class KeyConsole implements LineConsole {
  readonly #options: ConsoleOptions;
  #state: "idle" | "prompt" | "answer" = "idle";
  #line: Line = emptyLine;
  #resolve: (input: TypedInput) => void = () => undefined;
  #cancel: () => void = () => undefined;
  /** Sent during an answer. */
  #queue: string[] = [];
  #hasEnded = false;
  /** At the prompt: what is on the screen. */
  #drawn: Layout | undefined;
  /** During an answer: a row below it is on the screen. */
  #isRowShown = false;
  /** What a marked paste has brought so far. */
  #paste: string | undefined;
  /** Keys that come as fast as a paste; `waits`: an Enter among them, undecided. */
  #burst = { isPaste: false, waits: false, timer: undefined as NodeJS.Timeout | undefined };
  /** Place in the history, counted from its end; 0: the draft. */
  #back = 0;
  #draft: Line = emptyLine;
  #search: { readonly query: string; readonly skip: number } | undefined;
  #completion: (Completion & { readonly next: number }) | undefined;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    const { input, output } = options;
    // Whoever asks for key events first sets the time that Esc waits.
    emitKeypressEvents(input, { escapeCodeTimeout: 2 * PAUSE_MS } as unknown as Interface);
    input.on("end", this.#onEnd);
    output.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    this.#listen();
  }

  get isTyping(): boolean {
    return this.#line.text !== "";
  }

  read(): Promise<TypedInput> {
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      this.#options.output.write(`${layOut(prompt, { text: queued, cursor: 0 }, this.#columns).rows.join("\n")}\n`);
      return Promise.resolve({ kind: "text", text: queued });
    }
    if (this.#hasEnded) return Promise.resolve({ kind: "end" });
    this.#state = "prompt";
    this.#draw();
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

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

  write(text: string): void {
    this.#hideRow();
    this.#options.output.write(text);
    this.#showRow();
  }

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
    const { input, output } = this.#options;
    input.setRawMode(true);
    input.on("keypress", this.#onKey);
    input.resume();
    output.write(pasteOn);
  }

  #unlisten(): void {
    const { input, output } = this.#options;
    clearTimeout(this.#burst.timer);
    this.#burst = { isPaste: false, waits: false, timer: undefined };
    output.write(pasteOff);
    input.off("keypress", this.#onKey);
    input.setRawMode(false);
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#resolve({ kind: "end" });
  };

  readonly #onContinue = (): void => {
    this.#options.input.setRawMode(true);
    this.#options.output.write(pasteOn);
    this.#drawn = undefined;
    this.#refresh();
  };

  /** A terminal that wraps anew moves the place that it remembers: the answer goes on in the row of what is typed. */
  readonly #onResize = (): void => {
    if (this.#isRowShown) {
      this.#options.output.write("\r\u001B[J");
      this.#isRowShown = false;
    }
    this.#refresh();
  };

  readonly #onKey = (character: string | undefined, key: Key): void => {
    if (key.name === "paste-start") this.#paste = "";
    else if (this.#paste !== undefined) this.#takePaste(key);
    else {
      this.#takeKey(character, key);
      this.#refresh();
    }
  };

  #takePaste({ name, sequence = "" }: Key): void {
    if (name !== "paste-end") {
      if (!sequence.startsWith("\u001B")) this.#paste += sequence;
      return;
    }
    this.#completion = undefined;
    this.#line = insertText(this.#line, (this.#paste ?? "").replaceAll(/\r\n?/g, "\n"));
    this.#paste = undefined;
    this.#refresh();
  }

  /** An Enter sends only if no key follows it at once: some terminals do not mark a paste. */
  #takeKey(character: string | undefined, key: Key): void {
    const burst = this.#burst;
    if (burst.waits) {
      this.#line = insertText(this.#line, "\n");
      burst.waits = false;
      burst.isPaste = true;
    }
    const isEnter = toKeyName(key) === "return" && !this.#search;
    if (isEnter) burst.waits = true;
    else this.#edit(character, key);
    if (!isEnter && !burst.isPaste) return;
    clearTimeout(burst.timer);
    burst.timer = setTimeout(() => {
      const { waits, isPaste } = burst;
      burst.waits = false;
      burst.isPaste = false;
      if (waits && isPaste) this.#line = insertText(this.#line, "\n");
      else if (waits) this.#enter();
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
    switch (name) {
      case "C-c":
        return this.#interrupt();
      case "escape":
      case "M-escape":
        if (this.#state === "answer") {
          this.#unqueue();
          this.#cancel();
        }
        return;
      case "C-d":
        if (this.#line.text !== "" || this.#state !== "prompt") break;
        this.#leave({ kind: "end" });
        return;
      case "C-z":
        this.#options.input.setRawMode(false);
        this.#options.output.write(pasteOff);
        this.#options.sendSignal("SIGTSTP");
        // Without job control nothing stops, and no SIGCONT comes.
        setImmediate(this.#onContinue);
        return;
      case "C-l":
        if (this.#state !== "prompt") return;
        this.#options.output.write("\u001B[H\u001B[2J");
        this.#drawn = undefined;
        return;
      case "C-r":
        if (this.#state === "prompt") this.#search = { query: "", skip: 0 };
        return;
      case "up":
      case "C-p":
        return this.#moveUp();
      case "down":
      case "C-n":
        return this.#moveDown();
    }
    this.#line = editLine(this.#line, character, key) ?? this.#line;
  }

  #enter(): void {
    this.#completion = undefined;
    const { text, cursor } = this.#line;
    if (text[cursor - 1] === "\\") {
      this.#line = insertText(
        { ...this.#line, text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1 },
        "\n",
      );
      return;
    }
    const sent = text.replace(/\n+$/, "");
    this.#line = { ...this.#line, text: sent };
    if (this.#state === "prompt") this.#leave({ kind: "text", text: sent });
    else if (this.#state === "answer" && sent.trim() !== "") this.#queue.push(sent);
    else return;
    this.#line = { ...emptyLine, killed: this.#line.killed };
    this.#back = 0;
  }

  /** What was typed stays on the screen. */
  #leave(input: TypedInput): void {
    this.#line = { ...this.#line, cursor: this.#line.text.length };
    this.#draw();
    this.#drawn = undefined;
    this.#state = "idle";
    this.#options.output.write("\n");
    this.#resolve(input);
  }

  #interrupt(): void {
    if (this.#state !== "prompt") {
      this.#unqueue();
      this.#options.sendSignal("SIGINT");
    } else if (this.#line.text === "") this.#leave({ kind: "interrupt" });
    else this.#line = { ...emptyLine, killed: this.#line.text };
  }

  /** Whoever cancels an answer decides anew about what was to follow it. */
  #unqueue(): void {
    const text = [...this.#queue, this.#line.text].filter(Boolean).join("\n");
    this.#queue = [];
    this.#line = { ...this.#line, text, cursor: text.length };
  }

  #moveUp(): void {
    const { entries } = this.#options.history;
    const moved = moveLine(this.#line, -1);
    if (moved) this.#line = moved;
    else if (this.#back < entries.length) this.#recall(this.#back + 1);
  }

  #moveDown(): void {
    const moved = moveLine(this.#line, 1);
    if (moved) this.#line = moved;
    else if (this.#back > 0) this.#recall(this.#back - 1);
  }

  #recall(back: number): void {
    if (this.#back === 0) this.#draft = this.#line;
    this.#back = back;
    const text = this.#options.history.entries.at(-back) ?? "";
    this.#line = back === 0 ? this.#draft : { ...this.#line, text, cursor: text.length };
  }

  /** Newest first; the same text is found once. */
  get #found(): string | undefined {
    const { query, skip } = this.#search!;
    const matches = this.#options.history.entries.filter((entry) => entry.includes(query)).toReversed();
    const distinct = [...new Set(matches)];
    return query === "" ? undefined : distinct[Math.min(skip, distinct.length - 1)];
  }

  /** Whether the key belongs to the search. Enter and keys that move take what is found into the line, unsent. */
  #takeSearchKey(character: string | undefined, key: Key): boolean {
    const { query, skip } = this.#search!;
    const name = toKeyName(key);
    if (name === "C-r") this.#search = { query, skip: skip + 1 };
    else if (name === "backspace" || name === "C-h") this.#search = { query: query.slice(0, -1), skip: 0 };
    else if (name === "C-c" || name === "C-g" || name === "escape") this.#search = undefined;
    else if (editLine(emptyLine, character, key)?.text === character) {
      this.#search = { query: query + character, skip: 0 };
    } else {
      const text = this.#found ?? this.#line.text;
      this.#line = { ...this.#line, text, cursor: text.length };
      this.#search = undefined;
      return name === "return" || name === "tab";
    }
    return true;
  }

  /** The first time the part that all candidates share, then one after another. */
  async #completeNext(): Promise<void> {
    const line = this.#line;
    const known = this.#completion;
    if (known && known.candidates.length > 0) {
      this.#replaceWord(known, known.candidates[known.next % known.candidates.length]!);
      this.#completion = { ...known, next: known.next + 1 };
      this.#refresh();
      return;
    }
    const found = await this.#options.complete(line.text.slice(0, line.cursor));
    if (this.#line !== line || found.candidates.length === 0) return;
    const [first = ""] = found.candidates;
    const shared = toSharedStart(found.candidates);
    if (found.candidates.length === 1) this.#replaceWord(found, first.endsWith("/") ? first : `${first} `);
    else if (shared.length > line.cursor - found.start) this.#replaceWord(found, shared);
    if (found.candidates.length > 1) this.#completion = { ...found, next: 0 };
    this.#refresh();
  }

  #replaceWord({ start }: Completion, word: string): void {
    const { text, cursor } = this.#line;
    this.#line = insertText({ ...this.#line, text: text.slice(0, start) + text.slice(cursor), cursor: start }, word);
  }

  get #columns(): number {
    return this.#options.output.columns || 80;
  }

  #refresh(): void {
    if (this.#state === "prompt") this.#draw();
    if (this.#state === "answer") {
      this.#hideRow();
      this.#showRow();
    }
  }

  /** At the prompt. */
  #draw(): void {
    const { output } = this.#options;
    const columns = this.#columns;
    const up = this.#drawn ? toReflowedRow(this.#drawn, columns) : 0;
    const hints = this.#completion ? toHints(this.#completion.candidates, columns) : [];
    const search = this.#search;
    const found = (search && this.#found) ?? this.#line.text;
    const full = search
      ? layOut(`(search: ${search.query}) `, { text: found, cursor: found.length }, columns)
      : layOut(prompt, this.#line, columns);
    const layout = toWindow(full, Math.max(1, (output.rows || 24) - 1 - hints.length));
    const down = layout.rows.length + hints.length - 1 - layout.cursorRow;
    output.write(
      `\r${toUp(up)}\u001B[J${[...layout.rows, ...hints].join("\r\n")}\r${toUp(down)}` +
        (layout.cursorColumn > 0 ? `\u001B[${layout.cursorColumn}C` : ""),
    );
    this.#drawn = layout;
  }

  /** During an answer. */
  #showRow(): void {
    if (this.#state !== "answer" || (this.#line.text === "" && this.#queue.length === 0)) return;
    const lead = this.#queue.length === 0 ? prompt : `(${this.#queue.length} to be sent) ${prompt}`;
    const tail = toTail(this.#line.text.slice(0, this.#line.cursor), this.#columns - toWidth(lead));
    this.#options.output.write(`${fromAnswer}${lead}${tail}`);
    this.#isRowShown = true;
  }

  #hideRow(): void {
    if (this.#isRowShown) this.#options.output.write(toAnswer);
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

/** One candidate a row. */
function toHints(candidates: readonly string[], columns: number): string[] {
  const shown = candidates.slice(0, 8).map((candidate) => `  ${toTail(candidate, columns - 3)}`);
  const rest = candidates.length - shown.length;
  return rest > 0 ? [...shown, `  … ${rest} more`] : shown;
}
