/** The model's thinking before and between the parts of its answer (N14), within a limit. */
import type { StreamEvent } from "@sheaf/protocol";
import type { SheafClient } from "./client.ts";

/** The reasoning of one response. It is never part of the answer. */
export interface Reasoning {
  /** The end of the text, at most 65,536 UTF-16 code units. */
  readonly text: string;
  /** True if the start is missing: the text was longer, or started before the conversation was opened here. */
  readonly isCut: boolean;
  /** True if the model is thinking now. */
  readonly isOpen: boolean;
  /** Milliseconds in which it arrived; undefined if it wasn't followed from its start. */
  readonly durationMs: number | undefined;
}

const mostCharacters = 65_536;

export interface ReasoningReader {
  readonly push: (event: StreamEvent) => void;
  /** Ends the reasoning, because its response ended. */
  readonly end: () => void;
  /** Returns the same object until something changes; undefined without reasoning. */
  readonly read: () => Reasoning | undefined;
}

interface ReasoningStart {
  /** Milliseconds since 1970. Undefined: the duration isn't known. */
  readonly now?: (() => number) | undefined;
  /** Earlier reasoning of the response. */
  readonly from?: Reasoning | undefined;
  /** True if earlier events were not read. */
  readonly isCut: boolean;
}

/** Reads the reasoning of an ended response. Returns undefined if the model sent none. */
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

/** Takes the end of a text, which never starts with the second half of a character. */
function takeEnd(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.slice(-mostCharacters);
  return /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end;
}
