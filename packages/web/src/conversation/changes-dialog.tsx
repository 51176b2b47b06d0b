import type { SheafClient } from "@sheaf/client";
import type { ChangedFileState, ChangeRevert, ConversationChanges } from "@sheaf/protocol";
import { useEffect, useMemo, useState } from "preact/hooks";
import { parsePatch, splitHunks } from "../diff/diff-lines.ts";
import { DiffPanel } from "../diff/diff-panel.tsx";
import { SplitSwitch } from "../diff/split-switch.tsx";
import { useAnnounce } from "../elements/announcer.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { Icon } from "../elements/icon.tsx";
import { useSetting } from "../elements/settings.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { ChangedPath, LineCount, operationIcons } from "../views/file-edit-view.tsx";

interface ChangesDialogProps {
  readonly id: string;
  readonly ports: { readonly client: SheafClient; readonly describe: (error: unknown) => string };
  readonly onClose: () => void;
}

/** What the conversation changed, file by file against its start; files and hunks can be undone (X28, X29). */
export function ChangesDialog({ id, ports: { client, describe }, onClose }: ChangesDialogProps) {
  const messages = useMessages();
  const announce = useAnnounce();
  const [files, setFiles] = useState<readonly ChangedFileState[]>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const ask = async (request: () => Promise<ConversationChanges>): Promise<boolean> => {
    setBusy(true);
    try {
      setFiles((await request()).files);
      setFailure(undefined);
      return true;
    } catch (error) {
      setFailure(describe(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const load = (): void => void ask(() => client.listChanges(id));
  useEffect(load, [id]);
  const undo = async (change: ChangeRevert): Promise<void> => {
    if (await ask(() => client.revertChange(id, change))) announce(messages.reverted);
  };
  return (
    <Dialog
      title={messages.changes}
      onClose={onClose}
      isWide
      buttons={
        <button type="button" class="primary-button" onClick={onClose}>
          {messages.close}
        </button>
      }
    >
      {failure === undefined ? undefined : (
        <div class="connection" role="alert">
          <Icon name="warning" />
          <span>{failure}</span>
          <button type="button" class="quiet-button" onClick={load}>
            {messages.tryAgain}
          </button>
        </div>
      )}
      {files === undefined ? (
        failure === undefined && <p class="stage-note">{messages.loading}</p>
      ) : files.length === 0 ? (
        <p class="stage-note">{messages.noChanges}</p>
      ) : (
        <div class="changes" aria-busy={isBusy}>
          {files.map((file) => (
            <ChangedFile key={file.filePath} file={file} isBusy={isBusy} onUndo={(change) => void undo(change)} />
          ))}
        </div>
      )}
    </Dialog>
  );
}

interface ChangedFileProps {
  readonly file: ChangedFileState;
  readonly isBusy: boolean;
  readonly onUndo: (change: ChangeRevert) => void;
}

function ChangedFile({ file, isBusy, onUndo }: ChangedFileProps) {
  const messages = useMessages();
  const { filePath, newFilePath = "", operation, linesAdded = 0, linesRemoved = 0, hash, patch = "", problem } = file;
  const seen = { filePath, ...(hash !== undefined && { hash }) };
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
          {operation === "edit" ? <SplitSwitch /> : undefined}
          {operation === undefined ? undefined : (
            <UndoButton
              label={messages.undoFile(newFilePath || filePath)}
              isBusy={isBusy}
              onUndo={() => onUndo(seen)}
            />
          )}
        </>
      }
    >
      {problem === undefined ? undefined : (
        <p class="card-note">
          <VisibleText text={problem} />
        </p>
      )}
      <Hunks
        patch={patch}
        path={filePath}
        isBusy={isBusy}
        onUndo={operation === "edit" ? (hunk) => onUndo({ ...seen, hunk }) : undefined}
      />
    </Card>
  );
}

interface HunksProps {
  readonly patch: string;
  readonly path: string;
  readonly isBusy: boolean;
  /** Absent: the file is undone as a whole. */
  readonly onUndo: ((hunk: number) => void) | undefined;
}

function Hunks({ patch, path, isBusy, onUndo }: HunksProps) {
  const messages = useMessages();
  const [layout] = useSetting("diffLayout");
  const hunks = useMemo(() => splitHunks(patch).map(parsePatch), [patch]);
  return (
    <>
      {hunks.map((lines, index) => (
        <div class="hunk" key={index}>
          <DiffPanel
            lines={lines}
            isSplit={layout === "split" && onUndo !== undefined}
            label={messages.changesIn(path)}
            memoryKey={`changes/${path}/${index}`}
          />
          {hunks.length > 1 && onUndo ? (
            <UndoButton label={messages.undoHunk(index + 1)} isBusy={isBusy} onUndo={() => onUndo(index)} />
          ) : undefined}
        </div>
      ))}
    </>
  );
}

interface UndoButtonProps {
  readonly label: string;
  readonly isBusy: boolean;
  readonly onUndo: () => void;
}

function UndoButton({ label, isBusy, onUndo }: UndoButtonProps) {
  return (
    <button type="button" class="tool-button" aria-label={label} title={label} disabled={isBusy} onClick={onUndo}>
      <Icon name="undo" />
    </button>
  );
}
