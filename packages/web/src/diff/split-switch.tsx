import { useSetting } from "../elements/settings.tsx";
import { useMedia } from "../elements/use-media.ts";
import { useMessages } from "../messages/use-messages.ts";

/** True if changes appear side by side, because the user chose it and two columns fit. */
export function useSplitLayout(): boolean {
  const [layout] = useSetting("diffLayout");
  return useMedia("(min-width: 1024px)") && layout === "split";
}

/** A switch for all changes of the page: one column, or old and new side by side. */
export function SplitSwitch() {
  const messages = useMessages();
  const [layout, setLayout] = useSetting("diffLayout");
  const isSplit = layout === "split";
  return (
    <button
      type="button"
      class="tool-button text-button split-switch"
      aria-pressed={isSplit}
      onClick={() => setLayout(isSplit ? "unified" : "split")}
    >
      {messages.sideBySide}
    </button>
  );
}
