import { useId, useState } from "preact/hooks";
import { useSetting } from "../elements/settings.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { askNotificationPermission, readNotificationPermission } from "./notifications.ts";

/** Settings of the system's notifications. The user's click on the setting makes the browser ask for permission. */
export function NotificationSettings() {
  const messages = useMessages();
  const noteId = useId();
  const [isWanted, setWanted] = useSetting("notifications");
  const [hasTitles, setTitles] = useSetting("notificationTitles");
  const [permission, setPermission] = useState(readNotificationPermission);
  const isOn = isWanted && permission === "granted";
  const change = async (isChecked: boolean): Promise<void> => {
    if (!isChecked) return setWanted(false);
    const answer = await askNotificationPermission();
    setPermission(answer);
    setWanted(answer === "granted");
  };
  const note =
    permission === "unsupported"
      ? messages.notifyUnsupported
      : permission === "denied"
        ? messages.notifyRefused
        : messages.notifyNote;
  return (
    <fieldset class="setting-group">
      <legend>{messages.notifications}</legend>
      <label class="setting-check">
        <input
          type="checkbox"
          checked={isOn}
          disabled={permission === "unsupported"}
          aria-describedby={noteId}
          onChange={({ currentTarget }) => {
            const isChecked = currentTarget.checked;
            // The box stays unchecked until the browser has agreed.
            currentTarget.checked = isOn;
            void change(isChecked);
          }}
        />
        <span>{messages.notify}</span>
      </label>
      <label class="setting-check">
        <input
          type="checkbox"
          checked={isOn && hasTitles}
          disabled={!isOn}
          onChange={({ currentTarget }) => setTitles(currentTarget.checked)}
        />
        <span>{messages.notifyTitles}</span>
      </label>
      <p class="setting-note" id={noteId} role="status">
        {note}
      </p>
    </fieldset>
  );
}
