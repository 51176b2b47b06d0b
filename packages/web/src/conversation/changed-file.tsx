import type { ChangedFileState, ChangeRevert } from "@sheaf/protocol";
import { useMemo } from "preact/hooks";
import { toLanguage } from "../code/languages.ts";
import { FileDiff } from "../diff/file-diff.tsx";
import { type Hunk, parseHunks } from "../diff/hunks.ts";
import { SplitSwitch, useSplitLayout } from "../diff/split-switch.tsx";
import type { ReadLineNote } from "../diff/line-notes.tsx";
import type { ReadFileLines } from "../diff/use-file-lines.ts";
import { EditorLink } from "../editor/editor-link.tsx";
import { Button } from "../elements/button.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { ChangedPath, LineCount, operationIcons } from "../views/file-edit-view.tsx";

interface ChangedFileProps {
  readonly file: ChangedFileState;
  readonly isBusy: boolean;
  readonly onUndo: (change: ChangeRevert) => void;
  readonly read: ReadFileLines;
  readonly readNote: ReadLineNote;
}

export function ChangedFile({ file, isBusy, onUndo, read, readNote }: ChangedFileProps) {
  const messages = useMessages();
  const isSplit = useSplitLayout();
  const { filePath, newFilePath = "", operation, linesAdded = 0, linesRemoved = 0, hash, patch = "", problem } = file;
  const hunks = useMemo(() => parseHunks(patch), [patch]);
  const seen = { filePath, ...(hash !== undefined && { hash }) };
  const isEdit = operation === "edit";
  return (
    <Card
      icon={operationIcons[operation ?? ""] ?? "file"}
      title={<ChangedPath path={filePath} newPath={newFilePath} />}
      facts={
        <>
          {operation === undefined ? undefined : (
            <Badge tone={operation === "delete" ? "warning" : "neutral"}>{messages.operations[operation]}</Badge>
          )}
          {file.changedSince === true ? <Badge tone="warning">{messages.changedSince}</Badge> : undefined}
          <LineCount added={linesAdded} removed={linesRemoved} />
        </>
      }
      actions={
        <>
          {isEdit ? <SplitSwitch /> : undefined}
          {operation === "delete" ? undefined : (
            <EditorLink path={newFilePath || filePath} line={findFirstChange(hunks)} />
          )}
          <CopyButton text={newFilePath || filePath} label={messages.copyPath} icon="copyPath" />
          {operation === undefined ? undefined : (
            <Button
              icon="undo"
              label={messages.undoFile({ path: newFilePath || filePath })}
              disabled={isBusy}
              onClick={() => onUndo(seen)}
            />
          )}
        </>
      }
    >
      {problem === undefined ? undefined : <VisibleText as="p" class="card-note" text={problem} />}
      {hunks.length === 0 ? undefined : (
        <FileDiff
          hunks={hunks}
          isSplit={isSplit && isEdit}
          label={messages.changesIn({ path: filePath })}
          language={toLanguage(newFilePath || filePath)}
          read={isEdit ? read : undefined}
          readNote={hash === undefined ? undefined : readNote}
          renderAction={(hunk) =>
            isEdit && hunks.length > 1 ? (
              <Button
                kind="gap"
                icon="undo"
                label={messages.undoHunk({ number: hunk + 1 })}
                disabled={isBusy}
                onClick={() => onUndo({ ...seen, hunk })}
              />
            ) : undefined
          }
        />
      )}
    </Card>
  );
}

/** Returns the line of the present file at which the first change starts. */
function findFirstChange(hunks: readonly Hunk[]): number {
  const lines = hunks[0]?.lines ?? [];
  const index = lines.findIndex(({ kind }) => kind !== "same");
  return lines.slice(Math.max(index, 0)).find(({ newNumber }) => newNumber !== undefined)?.newNumber ?? 1;
}
