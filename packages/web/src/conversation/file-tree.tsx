import type { ChangedFileState } from "@sheaf/protocol";
import { Icon } from "../elements/icon.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { LineCount, operationIcons } from "../views/file-edit-view.tsx";

interface FileTreeProps {
  readonly files: readonly ChangedFileState[];
  /** Folder of the files, with a slash at its end; "" for the workspace. */
  readonly folder?: string;
  readonly onSelect: (file: ChangedFileState) => void;
}

/** Changed files in their folders. Folders that contain one folder alone share its line. */
export function FileTree({ files, folder = "", onSelect }: FileTreeProps) {
  const children = Map.groupBy(files, (file) => toFolder(toPath(file), folder.length));
  return (
    <ul>
      {[...children].map(([inner, inside]) =>
        inner === folder ? (
          inside.map((file) => (
            <li key={file.filePath}>
              <button type="button" class="changes-item" title={toPath(file)} onClick={() => onSelect(file)}>
                <Icon name={operationIcons[file.operation ?? ""] ?? "file"} />
                <VisibleText text={toPath(file).slice(folder.length)} />
                <LineCount added={file.linesAdded ?? 0} removed={file.linesRemoved ?? 0} />
              </button>
            </li>
          ))
        ) : (
          <li key={inner}>
            <details open>
              <summary class="changes-folder">
                <VisibleText text={toShared(inside, inner).slice(folder.length)} />
              </summary>
              <FileTree files={inside} folder={toShared(inside, inner)} onSelect={onSelect} />
            </details>
          </li>
        ),
      )}
    </ul>
  );
}

function toPath({ filePath, newFilePath = filePath }: ChangedFileState): string {
  return newFilePath;
}

/** Returns the path up to the first slash after a place. */
function toFolder(path: string, from: number): string {
  return path.slice(0, path.indexOf("/", from) + 1 || from);
}

/** Returns the deepest folder that contains all of these files. */
function toShared(files: readonly ChangedFileState[], folder: string): string {
  const next = toFolder(toPath(files[0]!), folder.length);
  const isShared = next !== folder && files.every((file) => toPath(file).startsWith(next));
  return isShared ? toShared(files, next) : folder;
}
