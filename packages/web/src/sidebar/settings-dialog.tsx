import { EditorSettings } from "../editor/editor-settings.tsx";
import { Button } from "../elements/button.tsx";
import { Choice } from "../elements/choice.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { useSetting } from "../elements/settings.tsx";
import { NotificationSettings } from "../attention/notification-settings.tsx";
import { languageNames } from "../messages/languages.ts";
import { useMessages } from "../messages/use-messages.ts";

interface SettingsDialogProps {
  readonly onClose: () => void;
  readonly onSignOut: () => void;
}

export function SettingsDialog({ onClose, onSignOut }: SettingsDialogProps) {
  const messages = useMessages();
  const [theme, setTheme] = useSetting("theme");
  const [density, setDensity] = useSetting("density");
  const [language, setLanguage] = useSetting("language");
  return (
    <Dialog
      title={messages.settings}
      onClose={onClose}
      others={<Button kind="quiet" label={messages.signOut} onClick={onSignOut} />}
    >
      <Choice isSetting label={messages.theme} value={theme} options={messages.themes} onChange={setTheme} />
      <Choice isSetting label={messages.density} value={density} options={messages.densities} onChange={setDensity} />
      <Choice
        isSetting
        isLanguage
        label={messages.language}
        value={language}
        options={{ "": messages.browserLanguage, ...languageNames }}
        onChange={setLanguage}
      />
      <EditorSettings />
      <NotificationSettings />
    </Dialog>
  );
}
