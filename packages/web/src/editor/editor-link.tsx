import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Icon } from "../elements/icon.tsx";
import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { editorNames, isEditor, toEditorAddress } from "./editor-address.ts";

/** Name of the workspace whose files are visible. */
export const WorkspaceName = createContext("");

/** Opens a file in the editor that the user chose; without an editor, renders nothing (S-114). */
export function EditorLink({ path, line = 1 }: { readonly path: string; readonly line?: number | undefined }) {
  const messages = useMessages();
  const workspace = useContext(WorkspaceName);
  const [editor] = useSetting("editor");
  const [folder] = useSetting("editorFolder");
  const address = isEditor(editor) ? toEditorAddress(editor, folder, { path, line, workspace }) : undefined;
  if (!isEditor(editor) || address === undefined) return undefined;
  const label = messages.openInEditor({ editor: editorNames[editor] });
  return (
    <a class="tool-button" href={address} rel="noopener noreferrer" target="_blank" aria-label={label} title={label}>
      <Icon name="link" />
    </a>
  );
}
