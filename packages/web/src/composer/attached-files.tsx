import { useEffect, useRef, useState } from "preact/hooks";
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
  /** Absent: they cannot be removed. */
  readonly onRemove?: (index: number) => void;
}

/** Images by what the person chose in this tab, never from an address; a PDF is a name (S-102). */
export function AttachedFiles({ files, onRemove }: AttachedFilesProps) {
  const messages = useMessages();
  if (files.length === 0) return undefined;
  return (
    <ul class="attachments" aria-label={messages.attachedFiles}>
      {files.map(({ name, mediaType, blob }, index) => (
        <li key={`${index} ${name}`} class="attachment">
          {blob && mediaType.startsWith("image/") ? <Thumbnail blob={blob} /> : <Icon name="file" />}
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
  );
}

function Thumbnail({ blob }: { readonly blob: Blob }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address === undefined ? undefined : <img class="thumbnail" src={address} alt="" />;
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
        accept="image/png,image/jpeg,image/gif,image/webp,application/pdf"
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
      if (!fitsMessage([...latest.current.map(({ blob }) => blob.size), file.size])) {
        setProblem(messages.tooManyFiles);
        return;
      }
      // In order, and each on top of the others.
      const read = await readAttachedFile(file);
      if (!read) setProblem(messages.wrongFile(file.name));
      else onChange((latest.current = [...latest.current, read]));
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
