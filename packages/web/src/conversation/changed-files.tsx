import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** What prevents an undo: one line per file. */
export function ChangedFiles({ files }: { readonly files: readonly string[] }) {
  const messages = useMessages();
  return (
    <>
      <p>{messages.conflictText}</p>
      <ul class="changed-files">
        {files.map((file) => (
          <li key={file}>
            <VisibleText text={file} />
          </li>
        ))}
      </ul>
    </>
  );
}
