import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../elements/button.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { Icon } from "../elements/icon.tsx";
import { listen } from "../elements/listen.ts";
import { CodedText, VisibleText } from "../elements/visible-text.tsx";
import { formatSize } from "../elements/format.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { type AttachedFile, type FileLimits, findLimit, fitsMessage, readAttachedFile } from "./attached-file.ts";
import type { DraftFile } from "./draft.ts";

/** A file of a message; without `blob`, the server has its bytes. */
interface ShownFile extends Pick<AttachedFile, "name" | "mediaType"> {
  readonly blob?: Blob | undefined;
}

interface AttachedFilesProps {
  readonly files: readonly ShownFile[];
  /** Id of the message's response; "" or absent: the server doesn't have the files yet. */
  readonly responseId?: string;
  /** Number of the response's files before these. */
  readonly before?: number | undefined;
}

/** The files of a sent message. */
export function AttachedFiles({ files, responseId = "", before = 0 }: AttachedFilesProps) {
  const toAddress = (index: number): string | undefined =>
    responseId === "" ? undefined : `/v1/responses/${encodeURIComponent(responseId)}/attachments/${before + index + 1}`;
  return (
    <FileList>
      {files.map((file, index) => (
        <li key={`${index} ${file.name}`} class="attachment">
          <FileFace file={file} kept={toAddress(index)} />
        </li>
      ))}
    </FileList>
  );
}

interface DraftFilesProps {
  readonly files: readonly DraftFile[];
  readonly describe: (error: unknown) => string;
  readonly onRemove: (key: number) => void;
  readonly onRetry: (key: number) => void;
}

/** The files of a draft, each with its state. */
export function DraftFiles({ files, describe, onRemove, onRetry }: DraftFilesProps) {
  const messages = useMessages();
  return (
    <FileList>
      {files.map((file) => (
        <li key={file.key} class={`attachment is-${file.state}`} aria-busy={file.state === "sending"}>
          <FileFace file={file} kept={file.id && `/v1/attachments/${encodeURIComponent(file.id)}/content`} />
          {file.state === "sending" ? <span class="attachment-note">{messages.fileSending}</span> : undefined}
          {file.state === "failed" || file.state === "gone" ? (
            <span class="attachment-note" role="alert">
              <CodedText text={file.state === "gone" ? messages.fileGone : describe(file.error)} />
            </span>
          ) : undefined}
          {file.state === "failed" ? (
            <Button icon="retry" label={`${messages.tryAgain}: ${file.name}`} onClick={() => onRetry(file.key)} />
          ) : undefined}
          <Button
            icon="close"
            label={messages.removeAttachment({ path: file.name })}
            onClick={() => onRemove(file.key)}
          />
        </li>
      ))}
    </FileList>
  );
}

function FileList({ children }: { readonly children: readonly VNode[] }) {
  const messages = useMessages();
  if (children.length === 0) return undefined;
  return (
    <ul class="attachments" aria-label={messages.attachedFiles}>
      {children}
    </ul>
  );
}

/** The image that the user chose in this tab or that the server stores; only the name of any other file (S-102). */
function FileFace({ file, kept }: { readonly file: ShownFile; readonly kept: string | undefined }) {
  const [large, setLarge] = useState<string>();
  const { name, mediaType, blob } = file;
  return (
    <>
      {mediaType.startsWith("image/") && (blob ?? kept) !== undefined ? (
        <Thumbnail name={name} blob={blob} kept={kept} onOpen={setLarge} />
      ) : (
        <Icon name="file" />
      )}
      <VisibleText text={name} />
      {large === undefined ? undefined : <LargeImage name={name} address={large} onClose={() => setLarge(undefined)} />}
    </>
  );
}

interface LargeImageProps {
  readonly name: string;
  readonly address: string;
  readonly onClose: () => void;
}

function LargeImage({ name, address, onClose }: LargeImageProps) {
  return (
    <Dialog title={name} shape="wide" onClose={onClose}>
      <div class="large-view large-image" tabIndex={0} role="region" aria-label={name}>
        <img src={address} alt={name} />
      </div>
    </Dialog>
  );
}

interface ThumbnailProps {
  readonly name: string;
  readonly blob: Blob | undefined;
  /** Address of the image at the server (X46, X48). */
  readonly kept: string | undefined;
  readonly onOpen: (address: string) => void;
}

/** A small image that opens at full size. */
function Thumbnail({ name, blob, kept, onOpen }: ThumbnailProps) {
  const messages = useMessages();
  const [isMissing, setMissing] = useState(false);
  const address = useAddress(blob, kept);
  if (isMissing) return <Icon name="image" />;
  if (address === undefined) return undefined;
  const label = `${messages.fullSize}: ${name}`;
  return (
    <button type="button" class="thumbnail-button" aria-label={label} title={label} onClick={() => onOpen(address)}>
      <img class="thumbnail" src={address} alt="" loading="lazy" onError={() => setMissing(true)} />
    </button>
  );
}

/** Returns the address of the image; undefined until there is one. */
function useAddress(blob: Blob | undefined, kept: string | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!blob) return undefined;
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return blob ? address : kept;
}

/** Opens the browser's choice of files. */
export function FileButton({ onChoose }: { readonly onChoose: (files: readonly File[]) => void }) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        hidden
        multiple
        onChange={({ currentTarget }) => {
          onChoose([...(currentTarget.files ?? [])]);
          // An empty value lets the user choose the same file again.
          currentTarget.value = "";
        }}
      />
      <Button icon="clip" label={messages.attachFile} onClick={() => field.current?.click()} />
    </>
  );
}

interface FileChoice {
  /** Returns the files that the message has now. */
  readonly findFiles: () => readonly DraftFile[];
  readonly readLimits: () => Promise<FileLimits>;
  readonly onAdd: (file: AttachedFile) => void;
}

/** Adds files that the user chooses, pastes, or drops anywhere on the page; `problems`: reasons for files not added. */
export function useAttachedFiles({ findFiles, readLimits, onAdd }: FileChoice) {
  const findProblem = useFileProblem();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const last = useRef<Promise<void>>(Promise.resolve());
  const addAll = async (chosen: readonly File[]): Promise<void> => {
    const limits = await readLimits();
    for (const file of chosen) {
      const read = await readAttachedFile(file, limits);
      const problem = findProblem(file.name, read, findFiles(), limits);
      if (problem === undefined && read) onAdd(read);
      else if (problem !== undefined) setProblems((before) => [...before, problem]);
    }
  };
  const add = (chosen: readonly File[]): void => {
    if (chosen.length === 0) return;
    setProblems([]);
    // One after another, because each check needs the files added before.
    last.current = last.current.then(() => addAll(chosen));
  };
  const adding = useRef(add);
  adding.current = add;
  useEffect(() => listenForDrops((dropped) => adding.current(dropped)), []);
  return { problems, add };
}

/** Finds the reason why the server would refuse a file, with advice; undefined if the server accepts it. */
function useFileProblem() {
  const messages = useMessages();
  const language = useLanguage();
  const show = (bytes: number): string => formatSize(bytes, language);
  return (
    name: string,
    read: AttachedFile | undefined,
    others: readonly DraftFile[],
    limits: FileLimits,
  ): string | undefined => {
    const { messageFiles, messageBytes, textBytes } = limits;
    if (!read) return messages.wrongFile({ name, textSize: show(textBytes) });
    const { size } = read.blob;
    const most = findLimit(read, limits);
    if (size > most) return messages.fileTooLarge({ name, size: show(most) });
    if (fitsMessage([...others, { mediaType: read.mediaType, size }], limits)) return undefined;
    return messages.tooManyFiles({ name, number: messageFiles, size: show(messageBytes), textSize: show(textBytes) });
  };
}

/** Catches dropped files: the browser would replace the page with them. */
function listenForDrops(add: (files: readonly File[]) => void): () => void {
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  const onDrag = (event: DragEvent): void => {
    if (hasFiles(event)) event.preventDefault();
  };
  const onDrop = (event: DragEvent): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    add([...(event.dataTransfer?.files ?? [])]);
  };
  const stops = [listen(window, ["dragover"], onDrag), listen(window, ["drop"], onDrop)];
  return () => stops.forEach((stop) => stop());
}
