/** A menu that is hard to answer by accident: it ignores its first keys and starts on the safe answer (C63). */
import type { Readable, Writable } from "node:stream";
import { setImmediate as waitForRead, setTimeout as wait } from "node:timers/promises";
import { isCancel, SelectPrompt, wrapTextWithPrefix } from "@clack/core";
import { limitOptions, S_BAR, S_BAR_END, S_RADIO_ACTIVE, S_RADIO_INACTIVE, symbol, symbolBar } from "@clack/prompts";

/** Milliseconds for which a new menu ignores keys, since the user may have meant them for the line. */
const PAUSE_MS = 500;

interface Option {
  readonly value: string;
  readonly label: string;
}

export interface ChoiceOptions<Value extends string> {
  readonly message: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  /** The answer that is selected at the start, and the answer of every word except "y" and "yes". */
  readonly initialValue: Value;
  /** The answer of "y" and "yes"; undefined: no word is an answer. */
  readonly yes?: Value | undefined;
  readonly signal?: AbortSignal;
}

/** The place of a menu; by default the terminal of the process. */
export interface MenuScreen {
  readonly input?: Readable;
  readonly output?: Writable;
  /** Resolves when the menu may take answers; rejects if the signal is aborted. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

/** Shows a menu. Returns the chosen value; undefined after Esc or Ctrl-C, or if the signal was aborted. */
export async function choose<Value extends string>(
  { message, options, initialValue, yes, signal }: ChoiceOptions<Value>,
  { input, output, pause = waitUntilMeant }: MenuScreen = {},
): Promise<Value | undefined> {
  const ended = new AbortController();
  const menu = new PausedMenu({
    options: [...options],
    initialValue,
    ...(signal && { signal }),
    ...(input && { input }),
    ...(output && { output }),
    render() {
      return draw(this as PausedMenu, message, yes === undefined ? "↑ ↓, then Enter" : "y or n, then Enter", output);
    },
  });
  menu.followWords(initialValue, yes ?? initialValue);
  pause(ended.signal).then(
    () => menu.open(),
    () => undefined,
  );
  try {
    const chosen = await menu.prompt();
    return isCancel(chosen) ? undefined : (chosen as Value);
  } finally {
    ended.abort();
  }
}

/** Starts the pause of a question that isn't a menu. The result returns true after it, when Enter answers. */
export function startPause({ pause = waitUntilMeant }: MenuScreen, signal: AbortSignal): () => boolean {
  let isOver = false;
  pause(signal).then(
    () => (isOver = true),
    () => undefined,
  );
  return () => isOver;
}

/** Waits for the pause. A busy process may read keys late, so it reads all keys of the pause first. */
async function waitUntilMeant(signal: AbortSignal): Promise<void> {
  await wait(PAUSE_MS, undefined, { signal });
  await waitForRead();
}

const moves: ReadonlySet<string> = new Set(["up", "down", "left", "right"]);

class PausedMenu extends SelectPrompt<Option> {
  isOpen = false;

  /** Takes answers from now on, and shows which keys give one. */
  open(): void {
    this.isOpen = true;
    if (this.state === "active") this["render"]();
  }

  /** Takes "y" and "yes" for one answer and any other text for the other one, even letters that move elsewhere. */
  followWords(no: string, yes: string): void {
    let word = "";
    this.on("key", (character = "", { name = "" }) => {
      if (this.isOpen && name === "return") return;
      const isMove = this.isOpen && moves.has(name);
      word = this.isOpen && !isMove ? word + character : "";
      if (!isMove) this.#select(/^y(es)?$/i.test(word) ? yes : no);
    });
  }

  protected override _shouldSubmit(): boolean {
    return this.isOpen;
  }

  #select(value: string): void {
    this.cursor = this.options.findIndex((option) => option.value === value);
    this.value = value;
  }
}

/** Draws the menu like the other questions. */
function draw(
  { state, options, cursor, isOpen }: PausedMenu,
  message: string,
  keys: string,
  output?: Writable,
): string {
  const lead = `${S_BAR}  `;
  const head = `${S_BAR}\n${wrapTextWithPrefix(output, message, `${symbolBar(state)}  `, `${symbol(state)}  `)}\n`;
  if (state === "submit" || state === "cancel") {
    return head + wrapTextWithPrefix(output, options[cursor]?.label ?? "", lead);
  }
  const rows = limitOptions({
    cursor,
    options,
    ...(output && { output }),
    columnPadding: lead.length,
    rowPadding: head.split("\n").length + 2,
    style: ({ label }, isActive) => `${isActive ? S_RADIO_ACTIVE : S_RADIO_INACTIVE} ${label}`,
  });
  return `${head}${lead}${rows.join(`\n${lead}`)}\n${S_BAR_END}${isOpen ? `  ${keys}` : ""}\n`;
}
