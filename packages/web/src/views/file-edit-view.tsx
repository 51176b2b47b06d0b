import { CodeText } from "../code/code-text.tsx";
import { parsePatch, toReplacementLines, type DiffLine } from "../diff/diff-lines.ts";
import { DiffPanel } from "../diff/diff-panel.tsx";
import { SplitSwitch, useSplitLayout } from "../diff/split-switch.tsx";
import { EditorLink } from "../editor/editor-link.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import type { IconName } from "../elements/icon.tsx";
import { PathText } from "../elements/path-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { useMemo } from "preact/hooks";
import { readFlag, readNumber, readObject, readText } from "./metadata.ts";
import { RunningBadge } from "./running-badge.tsx";
import { type ForeignMetadata, isOpen, type ShownDocument, type ViewProps } from "./view.ts";

export const operationIcons: Readonly<Record<string, IconName>> = {
  create: "filePlus",
  edit: "fileEdit",
  delete: "fileMinus",
  rename: "fileMove",
};

/** A change of a file (R7, N31 to N35). */
export function FileEditView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const { metadata } = document;
  const path = readText(metadata, "filePath");
  const newPath = readText(metadata, "newFilePath");
  const operation = readText(metadata, "operation");
  const lines = useMemo(() => toLines(metadata), [metadata]);
  const isChange = operation === "edit" || operation === "rename";
  return (
    <Card
      icon={operationIcons[operation] ?? "file"}
      kind={`file-edit ${readText(metadata, "state") === "rejected" ? "refused" : ""}`}
      title={path === "" ? messages.documentTypes["file_edit"] : <ChangedPath path={path} newPath={newPath} />}
      facts={<EditFacts document={document} responseId={responseId} />}
      actions={
        <>
          {isChange && lines.length > 0 ? <SplitSwitch /> : undefined}
          {operation === "delete" ? undefined : <EditorLink path={newPath === "" ? path : newPath} />}
          <CopyButton text={newPath === "" ? path : newPath} label={messages.copyPath} icon="copyPath" />
        </>
      }
    >
      <EditBody document={document} lines={lines} memoryKey={`${responseId}/${document.id}`} label={path} />
    </Card>
  );
}

interface ChangedPathProps {
  readonly path: string;
  /** New path of a renamed file; "" for others. */
  readonly newPath: string;
}

export function ChangedPath({ path, newPath }: ChangedPathProps) {
  const messages = useMessages();
  return (
    <>
      <PathText path={path} />
      {newPath === "" ? undefined : (
        <>
          {" "}
          <span aria-label={messages.renamedTo}>→</span> <PathText path={newPath} />
        </>
      )}
    </>
  );
}

function toLines(metadata: ForeignMetadata): readonly DiffLine[] {
  const patch = readText(metadata, "patch");
  if (patch !== "") {
    const lines = parsePatch(patch);
    if (lines.length > 0) return lines;
  }
  const diff = readObject(metadata, "diff");
  if (diff === undefined) return [];
  return toReplacementLines(
    readText(diff, "oldString"),
    readText(diff, "newString"),
    readNumber(diff, "startLine") ?? 1,
  );
}

function EditFacts({ document, responseId }: Pick<ViewProps, "document" | "responseId">) {
  const messages = useMessages();
  const { metadata } = document;
  const operation = readText(metadata, "operation");
  const state = readText(metadata, "state");
  const added = readNumber(metadata, "linesAdded");
  const removed = readNumber(metadata, "linesRemoved");
  return (
    <>
      {isOpen(document) ? (
        <RunningBadge document={document} responseId={responseId} label={messages.writing} />
      ) : (
        <EditState operation={operation} state={state} />
      )}
      <LineCount added={added ?? 0} removed={removed ?? 0} />
    </>
  );
}

export function LineCount({ added, removed }: { readonly added: number; readonly removed: number }) {
  const messages = useMessages();
  if (added + removed === 0) return undefined;
  const [more, less] = [messages.lineCount({ lines: added }), messages.lineCount({ lines: removed })];
  const label = messages.linesChanged({ added: more, removed: less });
  return (
    <span class="diff-count" aria-label={label}>
      <span class="count-added">+{added}</span> <span class="count-removed">−{removed}</span>
    </span>
  );
}

function EditState({ operation, state }: { readonly operation: string; readonly state: string }) {
  const messages = useMessages();
  if (state === "rejected" || state === "failed") return <Badge tone="bad">{messages.editStates[state]}</Badge>;
  if (state === "proposed") return <Badge tone="warning">{messages.editStates.proposed}</Badge>;
  if (operation === "create" || operation === "edit" || operation === "delete" || operation === "rename") {
    return <Badge tone={operation === "delete" ? "warning" : "neutral"}>{messages.operations[operation]}</Badge>;
  }
  return undefined;
}

interface EditBodyProps {
  readonly document: ShownDocument;
  readonly lines: readonly DiffLine[];
  readonly memoryKey: string;
  readonly label: string;
}

function EditBody({ document, lines, memoryKey, label }: EditBodyProps) {
  const messages = useMessages();
  const isSplit = useSplitLayout();
  const { content, metadata } = document;
  const operation = readText(metadata, "operation");
  if (readFlag(metadata, "binary")) return <p class="card-note">{messages.binaryFile}</p>;
  const isChange = operation === "edit" || operation === "rename";
  if (isChange && lines.length > 0) {
    return (
      <DiffPanel
        lines={lines}
        isSplit={isSplit}
        label={messages.changesIn({ path: label })}
        language={readText(metadata, "language")}
        memoryKey={memoryKey}
      />
    );
  }
  if (content === null || (content === "" && operation !== "create")) return undefined;
  return (
    <>
      {content === "" ? (
        <p class="card-note">{messages.emptyFile}</p>
      ) : (
        <CodeText
          code={content}
          language={readText(metadata, "language")}
          isOpen={isOpen(document)}
          firstLine={isChange ? undefined : 1}
          label={label}
          memoryKey={memoryKey}
        />
      )}
      {readFlag(metadata, "truncated") ? <p class="card-note">{messages.contentCut}</p> : undefined}
    </>
  );
}
