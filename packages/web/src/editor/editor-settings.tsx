import { useId } from "preact/hooks";
import { Choice } from "../elements/choice.tsx";
import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { editorNames, isEditor } from "./editor-address.ts";

/** The choice of the editor that opens files, and of the workspace's folder on this computer. */
export function EditorSettings() {
  const messages = useMessages();
  const noteId = useId();
  const [editor, setEditor] = useSetting("editor");
  const [folder, setFolder] = useSetting("editorFolder");
  return (
    <>
      <Choice
        isSetting
        label={messages.editor}
        value={isEditor(editor) ? editor : ""}
        options={{ "": messages.noEditor, ...editorNames }}
        onChange={setEditor}
      />
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
