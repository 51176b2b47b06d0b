import type { Mode } from "@sheaf/protocol";
import { useMessages } from "../messages/use-messages.ts";

const modes: readonly Mode[] = ["agent", "plan", "ask", "debug"];

export function ModeChoice({ mode, onChange }: { readonly mode: Mode; readonly onChange: (mode: Mode) => void }) {
  const messages = useMessages();
  return (
    <fieldset class="modes">
      <legend class="unseen">{messages.mode}</legend>
      {modes.map((name) => (
        <label key={name} class="mode" title={messages.modeNotes[name]}>
          <input
            type="radio"
            name="mode"
            value={name}
            checked={mode === name}
            aria-description={messages.modeNotes[name]}
            onChange={() => onChange(name)}
          />
          <span>{messages.modes[name]}</span>
        </label>
      ))}
    </fieldset>
  );
}
