/** What a model thought before and between the parts of its answer (N14), within a bound. */
import type { StreamEvent } from "@sheaf/protocol";
import type { SheafClient } from "./client.ts";

/** The reasoning of one response. It is never part of the answer. */
export interface Reasoning {
  /** Its end, at most 65,536 UTF-16 code units. */
  readonly text: string;
  /** The beginning is missing: the text was longer, or began before the conversation was opened here. */
  readonly isCut: boolean;
  /** The model is thinking now. */
  readonly isOpen: boolean;
  /** Milliseconds in which it arrived; undefined if it was not followed from its beginning. */
  readonly durationMs: number | undefined;
}

const mostCharacters = 65_536;

export interface ReasoningReader {
  readonly push: (event: StreamEvent) => void;
  /** Ends it, with its response. */
  readonly end: () => void;
  /** The same object until something changes; undefined while there is none. */
  readonly read: () => Reasoning | undefined;
}

interface ReasoningStart {
  /** Milliseconds since 1970. Undefined: how long it took is not known. */
  readonly now?: (() => number) | undefined;
  /** What came before. */
  readonly from?: Reasoning | undefined;
  /** Events came before that nobody read. */
  readonly isCut: boolean;
}

/** The reasoning of a response that has ended; undefined if the model sent none. */
export async function readStoredReasoning(
  client: SheafClient,
  responseId: string,
  signal: AbortSignal,
): Promise<Reasoning | undefined> {
  const reader = createReasoningReader({ isCut: false });
  await client.follow(responseId, { reasoning: true, signal }).readToEnd(reader.push);
  return reader.read();
}

export function createReasoningReader({ now, from, isCut: isLate }: ReasoningStart): ReasoningReader {
  let text = from?.text ?? "";
  let isCut = from?.isCut ?? isLate;
  let elapsed = from?.durationMs ?? 0;
  let openedAt: number | undefined;
  let known = from;
  const isTimed = now !== undefined && !isCut && (from === undefined || from.durationMs !== undefined);
  const close = (): void => {
    if (openedAt === undefined) return;
    elapsed += Math.max(0, (now?.() ?? 0) - openedAt);
    openedAt = undefined;
    known = undefined;
  };
  return {
    push({ event, data }) {
      if (event !== "reasoning_delta") return close();
      openedAt ??= now?.() ?? 0;
      text += data.delta;
      known = undefined;
      // Cutting seldom keeps long reasoning cheap.
      if (text.length > 2 * mostCharacters) [text, isCut] = [takeEnd(text), true];
    },
    end: close,
    read() {
      if (text === "") return undefined;
      known ??= {
        text: takeEnd(text),
        isCut: isCut || text.length > mostCharacters,
        isOpen: openedAt !== undefined,
        durationMs: isTimed ? elapsed : undefined,
      };
      return known;
    },
  };
}

/** Never begins with the second half of a character. */
function takeEnd(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.slice(-mostCharacters);
  return /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end;
}
