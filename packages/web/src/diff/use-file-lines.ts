import { useState } from "preact/hooks";
import { useAnnounce } from "../elements/announcer.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { DiffLine } from "./diff-lines.ts";
import type { ShownLines } from "./hunks.ts";

/** Reads lines of the present file. If that fails, `text` is the reason for the user. */
export type ReadFileLines = (
  startLine: number,
  maxLines: number,
) => Promise<
  | { readonly kind: "lines"; readonly lines: readonly string[]; readonly totalLines: number }
  | { readonly kind: "problem"; readonly text: string }
>;

/** Lines read from the file, and which of them each gap shows. */
export interface FileLines {
  readonly texts: ReadonlyMap<number, DiffLine>;
  /** Numbers of visible lines, by the index of their gap. */
  readonly shown: ReadonlyMap<number, ShownLines>;
  readonly totalLines: number | undefined;
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  /** Reads `count` lines from `from`, and shows them at this side of the gap. */
  readonly show: (gap: number, side: keyof ShownLines, from: number, count: number) => void;
}

/** Number of lines that one step shows. */
export const lineStep = 20;
/** Number of lines that one click shows at most: each is an element of the page. */
const mostLines = 2000;

interface ReadLines extends Pick<FileLines, "texts" | "shown" | "totalLines" | "problem"> {}

/** Reads hidden lines on demand. @param onShown called before the pressed button may go */
export function useFileLines(read: ReadFileLines | undefined, onShown: () => void): FileLines | undefined {
  const messages = useMessages();
  const announce = useAnnounce();
  const [isBusy, setBusy] = useState(false);
  const [state, setState] = useState<ReadLines>({
    texts: new Map(),
    shown: new Map(),
    totalLines: undefined,
    problem: undefined,
  });
  if (read === undefined) return undefined;
  const readAndShow = async (...[gap, side, from, wanted]: Parameters<FileLines["show"]>): Promise<void> => {
    const count = Math.min(wanted, mostLines);
    // A gap that is too long for one click shows the part next to its hunk.
    const first = side === "end" && wanted !== Infinity ? from + wanted - count : from;
    setBusy(true);
    const outcome = await read(first, count);
    setBusy(false);
    const isCut = outcome.kind === "lines" && side === "end" && outcome.lines.length < count;
    if (outcome.kind === "problem" || isCut) {
      // Lines that do not reach the hunk would be in the wrong place.
      setState((now) => ({ ...now, problem: outcome.kind === "problem" ? outcome.text : messages.loadFailed }));
      return;
    }
    const { lines, totalLines } = outcome;
    onShown();
    announce(messages.linesShown({ lines: lines.length }));
    setState(({ texts, shown }) => {
      const before = shown.get(gap) ?? { start: 0, end: 0 };
      const added = lines.map((text, index): [number, DiffLine] => [
        first + index,
        { kind: "same", newNumber: first + index, text },
      ]);
      return {
        texts: new Map([...texts, ...added]),
        shown: new Map([...shown, [gap, { ...before, [side]: before[side] + lines.length }]]),
        totalLines,
        problem: undefined,
      };
    });
  };
  return { ...state, isBusy, show: (...order) => void readAndShow(...order) };
}
