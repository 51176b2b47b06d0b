import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** One column, or old and new side by side: for all changes of the page. */
export function SplitSwitch() {
  const messages = useMessages();
  const [layout, setLayout] = useSetting("diffLayout");
  const isSplit = layout === "split";
  return (
    <button
      type="button"
      class="tool-button text-button wide-only"
      aria-pressed={isSplit}
      onClick={() => setLayout(isSplit ? "unified" : "split")}
    >
      {messages.sideBySide}
    </button>
  );
}
