import { useId } from "preact/hooks";
import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { type Editor, editorNames } from "./editor-address.ts";

/** Which editor opens files, and where the workspace is on this computer. */
export function EditorSettings() {
  const messages = useMessages();
  const noteId = useId();
  const [editor, setEditor] = useSetting("editor");
  const [folder, setFolder] = useSetting("editorFolder");
  return (
    <>
      <label class="setting">
        <span>{messages.editor}</span>
        <select class="choice" value={editor} onChange={({ currentTarget }) => setEditor(currentTarget.value)}>
          <option value="">{messages.noEditor}</option>
          {(Object.keys(editorNames) as Editor[]).map((name) => (
            <option key={name} value={name}>
              {editorNames[name]}
            </option>
          ))}
        </select>
      </label>
      {editor === "" ? undefined : (
        <div>
          <label class="setting">
            <span>{messages.editorFolder}</span>
            <input
              class="choice"
              value={folder}
              maxLength={1000}
              spellcheck={false}
              placeholder="/home/me/{workspace}"
              aria-describedby={noteId}
              onInput={({ currentTarget }) => setFolder(currentTarget.value)}
            />
          </label>
          <p class="card-note" id={noteId}>
            {messages.editorFolderNote}
          </p>
        </div>
      )}
    </>
  );
}
