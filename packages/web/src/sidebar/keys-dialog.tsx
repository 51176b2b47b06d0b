import { Dialog } from "../elements/dialog.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** The keys of the page, and what each does. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const messages = useMessages();
  const { approvalKinds } = messages;
  const keys: readonly (readonly [keys: string, effect: string])[] = [
    ["Enter", messages.send],
    ["Shift+Enter", messages.keys.line],
    ["@", messages.attach],
    ["/", messages.useCommand],
    ["Ctrl+K", messages.searchConversations],
    ["Ctrl+F", messages.find.here],
    ["Alt+Y", approvalKinds.allow_once],
    ["Alt+N", approvalKinds.reject_once],
    ["Page Down, Page Up", messages.keys.entries],
    ["F2", messages.rename],
    ["?", messages.keys.title],
  ];
  return (
    <Dialog title={messages.keys.title} onClose={onClose}>
      <ul class="keys">
        {keys.map(([name, effect]) => (
          <li key={name}>
            <kbd>{name}</kbd> {effect}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
