import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../elements/dialog.tsx";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { type AttachedFile, fitsMessage, readAttachedFile } from "./attached-file.ts";

/** A file of a message; without `blob` only its name is known here. */
interface ShownFile extends Pick<AttachedFile, "name" | "mediaType"> {
  readonly blob?: Blob;
}

interface AttachedFilesProps {
  readonly files: readonly ShownFile[];
  /** Of the message that has them; "" or absent: the server does not have them yet. */
  readonly responseId?: string;
  /** Absent: they cannot be removed. */
  readonly onRemove?: (index: number) => void;
}

/** Images by what the person chose in this tab, or what the server keeps of it; everything else is a name (S-102). */
export function AttachedFiles({ files, responseId = "", onRemove }: AttachedFilesProps) {
  const messages = useMessages();
  const [large, setLarge] = useState<LargeImageData>();
  if (files.length === 0) return undefined;
  return (
    <>
      <ul class="attachments" aria-label={messages.attachedFiles}>
        {files.map(({ name, mediaType, blob }, index) => (
          <li key={`${index} ${name}`} class="attachment">
            {mediaType.startsWith("image/") && (blob || responseId !== "") ? (
              <Thumbnail
                name={name}
                blob={blob}
                kept={`/v1/responses/${encodeURIComponent(responseId)}/attachments/${index + 1}`}
                onOpen={(address) => setLarge({ name, address })}
              />
            ) : (
              <Icon name="file" />
            )}
            <VisibleText text={name} />
            {onRemove ? (
              <button
                type="button"
                class="tool-button"
                aria-label={messages.removeAttachment(name)}
                onClick={() => onRemove(index)}
              >
                <Icon name="close" />
              </button>
            ) : undefined}
          </li>
        ))}
      </ul>
      {large ? <LargeImage {...large} onClose={() => setLarge(undefined)} /> : undefined}
    </>
  );
}

interface LargeImageData {
  readonly name: string;
  readonly address: string;
}

/** An image at its full size. */
function LargeImage({ name, address, onClose }: LargeImageData & { readonly onClose: () => void }) {
  const messages = useMessages();
  return (
    <Dialog
      title={name}
      isWide
      onClose={onClose}
      buttons={
        <button type="button" class="primary-button" onClick={onClose}>
          {messages.close}
        </button>
      }
    >
      <div class="large-view large-image" tabIndex={0} role="region" aria-label={name}>
        <img src={address} alt={name} />
      </div>
    </Dialog>
  );
}

interface ThumbnailProps {
  readonly name: string;
  readonly blob: Blob | undefined;
  /** Where the server has it (X48). */
  readonly kept: string;
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

/** Undefined until there is one. */
function useAddress(blob: Blob | undefined, kept: string): string | undefined {
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
          // The same file can be chosen again.
          currentTarget.value = "";
        }}
      />
      <button
        type="button"
        class="tool-button"
        aria-label={messages.attachFile}
        title={messages.attachFile}
        onClick={() => field.current?.click()}
      >
        <Icon name="image" />
      </button>
    </>
  );
}

/** Adds files that are chosen, pasted, or dropped anywhere on the page; `problem`: why some were not. */
export function useAttachedFiles(files: readonly AttachedFile[], onChange: (files: readonly AttachedFile[]) => void) {
  const messages = useMessages();
  const [problem, setProblem] = useState<string>();
  const latest = useRef(files);
  latest.current = files;
  const add = async (chosen: readonly File[]): Promise<void> => {
    if (chosen.length === 0) return;
    setProblem(undefined);
    for (const file of chosen) {
      // In order, and each on top of the others.
      const read = await readAttachedFile(file);
      const together = read ? [...latest.current, read] : latest.current;
      if (!fitsMessage(together)) {
        setProblem(messages.tooManyFiles);
        return;
      }
      if (!read) setProblem(messages.wrongFile(file.name));
      else onChange((latest.current = together));
    }
  };
  const adding = useRef(add);
  adding.current = add;
  useEffect(() => listenForDrops((dropped) => void adding.current(dropped)), []);
  return {
    problem,
    add: (chosen: readonly File[]) => void add(chosen),
    remove: (index: number): void => onChange(files.filter((_, other) => other !== index)),
  };
}

/** Without this, a dropped file would replace the page. */
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
  window.addEventListener("dragover", onDrag);
  window.addEventListener("drop", onDrop);
  return () => {
    window.removeEventListener("dragover", onDrag);
    window.removeEventListener("drop", onDrop);
  };
}
