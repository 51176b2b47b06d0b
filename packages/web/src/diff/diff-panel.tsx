import type { ComponentChildren, VNode } from "preact";
import { useRemembered } from "../elements/remembered.ts";
import { useMessages } from "../messages/use-messages.ts";
import { type DiffLine, toPairs } from "./diff-lines.ts";

interface DiffPanelProps {
  readonly lines: readonly DiffLine[];
  readonly isSplit: boolean;
  readonly label: string;
  readonly memoryKey: string;
}

/** Longer changes are folded. */
const foldedLines = 40;

/** A change, line by line: in one column, or old and new side by side. */
export function DiffPanel({ lines, isSplit, label, memoryKey }: DiffPanelProps) {
  const messages = useMessages();
  const [isUnfolded, setUnfolded] = useRemembered(`${memoryKey}/diff`, false);
  const canFold = lines.length > foldedLines + 10;
  const shown = canFold && !isUnfolded ? lines.slice(0, foldedLines) : lines;
  return (
    <>
      <div class="diff-frame" tabIndex={0} role="region" aria-label={label}>
        <table class={isSplit ? "diff split" : "diff"}>
          {isSplit ? (
            <colgroup>
              <col class="diff-number-column" />
              <col />
              <col class="diff-number-column" />
              <col />
            </colgroup>
          ) : undefined}
          <tbody>{isSplit ? renderSplit(shown) : shown.map(renderUnified)}</tbody>
        </table>
      </div>
      {canFold ? (
        <button type="button" class="fold-button" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          {isUnfolded ? messages.showLess : messages.showAllLines(lines.length)}
        </button>
      ) : undefined}
    </>
  );
}

const signs = { same: " ", added: "+", removed: "−", gap: "" } as const;

function renderUnified(line: DiffLine): VNode {
  if (line.kind === "gap") return renderGap(line, 4);
  return (
    <tr class={`diff-${line.kind}`}>
      <td class="diff-number">{line.oldNumber}</td>
      <td class="diff-number">{line.newNumber}</td>
      <td class="diff-sign">{signs[line.kind]}</td>
      <td class="diff-text">{renderText(line)}</td>
    </tr>
  );
}

function renderSplit(lines: readonly DiffLine[]): VNode[] {
  return toPairs(lines).map(({ left, right }) => {
    if (left?.kind === "gap") return renderGap(left, 4);
    return (
      <tr>
        <td class={`diff-number ${toSide(left)}`}>{left?.oldNumber}</td>
        <td class={`diff-text ${toSide(left)}`}>{left === undefined ? undefined : renderText(left)}</td>
        <td class={`diff-number ${toSide(right)}`}>{right?.newNumber}</td>
        <td class={`diff-text ${toSide(right)}`}>{right === undefined ? undefined : renderText(right)}</td>
      </tr>
    );
  });
}

function toSide(line: DiffLine | undefined): string {
  return line === undefined ? "diff-none" : `diff-${line.kind}`;
}

function renderGap({ text }: DiffLine, columns: number): VNode {
  return (
    <tr class="diff-gap">
      <td colSpan={columns}>⋯ {text}</td>
    </tr>
  );
}

function renderText({ text, changed }: DiffLine): ComponentChildren {
  if (changed === undefined || changed[0] >= changed[1]) return text === "" ? "\u200B" : text;
  const [from, to] = changed;
  return [text.slice(0, from), <mark>{text.slice(from, to)}</mark>, text.slice(to)];
}
