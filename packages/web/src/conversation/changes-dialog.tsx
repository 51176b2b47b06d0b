import type { SheafClient } from "@sheaf/client";
import type { ChangedFileState, ChangeRevert, ConversationChanges } from "@sheaf/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { toMention } from "../composer/mention.ts";
import type { ReadLineNote } from "../diff/line-notes.tsx";
import { LineComment } from "../diff/line-comment.tsx";
import { LineOrigin } from "../diff/line-origin.tsx";
import type { ReadFileLines } from "../diff/use-file-lines.ts";
import { useAnnounce } from "../elements/announcer.tsx";
import { Button } from "../elements/button.tsx";
import { useConfirm } from "../elements/confirm.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { LineCount } from "../views/file-edit-view.tsx";
import { FileChanges, Notice } from "./conversation-notices.tsx";
import { ChangedFile } from "./changed-file.tsx";
import { FileTree } from "./file-tree.tsx";

export interface ChangesPorts {
  readonly client: SheafClient;
  readonly describe: (error: unknown) => string;
  /** Puts a comment on a line into the message. */
  readonly comment: (text: string) => void;
}

interface ChangesDialogProps {
  readonly id: string;
  /** Name of the conversation's workspace. */
  readonly workspace: string;
  readonly ports: ChangesPorts;
  readonly onClose: () => void;
}

/** The changes of the conversation, file by file against its start; the user can undo files and hunks (X28, X29). */
export function ChangesDialog({ id, workspace, ports: { client, describe, comment }, onClose }: ChangesDialogProps) {
  const messages = useMessages();
  const announce = useAnnounce();
  const confirm = useConfirm();
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
  /** Asks first if the undo would also lose changes of somebody else, such as the user's own. */
  const askUndo = (change: ChangeRevert): void => {
    const { changedSince } = files?.find(({ filePath }) => filePath === change.filePath) ?? {};
    if (changedSince !== true) return void undo(change);
    confirm({
      title: messages.filesTitle,
      text: <FileChanges files={[]} conflicts={[{ filePath: change.filePath, reason: messages.changedSince }]} />,
      confirm: messages.conflictOverwrite,
      isDangerous: true,
      onConfirm: () => void undo(change),
    });
  };
  /** Reads lines of a file; they'd be at wrong places if the file has changed since the server listed the changes. */
  const toReader =
    ({ filePath, hash }: ChangedFileState): ReadFileLines =>
    async (startLine, maxLines) => {
      try {
        const file = await client.readFile(workspace, filePath, { startLine, maxLines });
        if (file.hash !== hash) return { kind: "problem", text: messages.fileChangedSince };
        const lines = file.content.split("\n");
        // The API counts an empty line after the last line end.
        const hasTail = lines.at(-1) === "";
        const isWhole = hasTail && file.endLine === file.totalLines;
        return {
          kind: "lines",
          lines: hasTail ? lines.slice(0, -1) : lines,
          totalLines: file.totalLines - (isWhole ? 1 : 0),
        };
      } catch (error) {
        return { kind: "problem", text: describe(error) };
      }
    };
  const toNoteReader =
    ({ filePath, newFilePath = filePath, hash }: ChangedFileState): ReadLineNote =>
    async (line) => {
      const form = (
        <LineComment line={line} onComment={(text) => comment(`${toMention(newFilePath)}${line}: ${text}`)} />
      );
      try {
        const blame = await client.readBlame(id, newFilePath);
        const range = blame.ranges.find(({ endLine }) => endLine >= line);
        if (blame.hash !== hash || !range) return messages.fileChangedSince;
        return [<LineOrigin range={range} id={id} />, form];
      } catch (error) {
        return [describe(error), form];
      }
    };
  return (
    <Dialog
      title={messages.changes}
      onClose={onClose}
      shape="wide panel"
      others={<Button kind="quiet" label={messages.loadAgain} disabled={isBusy} onClick={load} />}
    >
      {failure === undefined ? undefined : (
        <Notice text={failure} role="alert">
          <Button kind="quiet" label={messages.tryAgain} onClick={load} />
        </Notice>
      )}
      {files === undefined ? (
        failure === undefined && <p class="stage-note">{messages.loading}</p>
      ) : files.length === 0 ? (
        <p class="stage-note">{messages.noChanges}</p>
      ) : (
        <ChangedFiles files={files} isBusy={isBusy} onUndo={askUndo} toReader={toReader} toNoteReader={toNoteReader} />
      )}
    </Dialog>
  );
}

interface ChangedFilesProps {
  readonly files: readonly ChangedFileState[];
  readonly isBusy: boolean;
  readonly onUndo: (change: ChangeRevert) => void;
  readonly toReader: (file: ChangedFileState) => ReadFileLines;
  readonly toNoteReader: (file: ChangedFileState) => ReadLineNote;
}

/** A list of links to the files, and the changes of each file. */
function ChangedFiles({ files, isBusy, onUndo, toReader, toNoteReader }: ChangedFilesProps) {
  const messages = useMessages();
  const cards = useRef(new Map<string, HTMLElement>()).current;
  const goTo = (path: string): void => {
    const card = cards.get(path);
    card?.scrollIntoView({ block: "start" });
    card?.focus({ preventScroll: true });
  };
  const sum = (name: "linesAdded" | "linesRemoved"): number =>
    files.reduce((total, file) => total + (file[name] ?? 0), 0);
  return (
    <div class="changes" aria-busy={isBusy}>
      <nav class="changes-list" aria-label={messages.changedFiles({ files: files.length })}>
        <p class="changes-sum">
          {messages.changedFiles({ files: files.length })}{" "}
          <LineCount added={sum("linesAdded")} removed={sum("linesRemoved")} />
        </p>
        <FileTree files={files} onSelect={({ filePath }) => goTo(filePath)} />
      </nav>
      <div class="changes-files">
        {files.map((file) => (
          <section
            key={`${file.filePath} ${file.hash ?? ""}`}
            class="changes-file"
            tabIndex={-1}
            aria-label={file.filePath}
            ref={(element) => {
              if (element === null) cards.delete(file.filePath);
              else cards.set(file.filePath, element);
            }}
          >
            <ChangedFile
              file={file}
              isBusy={isBusy}
              onUndo={onUndo}
              read={toReader(file)}
              readNote={toNoteReader(file)}
            />
          </section>
        ))}
      </div>
    </div>
  );
}
