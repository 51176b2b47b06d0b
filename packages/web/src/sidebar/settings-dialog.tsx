import { EditorSettings } from "../editor/editor-settings.tsx";
import { Button } from "../elements/button.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { useSetting } from "../elements/settings.tsx";
import { NotificationSettings } from "../attention/notification-settings.tsx";
import type { Settings } from "../elements/stored-settings.ts";
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
      <label class="setting">
        <span>{messages.theme}</span>
        <select class="choice" value={theme} onChange={(event) => setTheme(toTheme(event.currentTarget.value))}>
          {themes.map((name) => (
            <option key={name} value={name}>
              {messages.themes[name]}
            </option>
          ))}
        </select>
      </label>
      <label class="setting">
        <span>{messages.density}</span>
        <select class="choice" value={density} onChange={(event) => setDensity(toDensity(event.currentTarget.value))}>
          {densities.map((name) => (
            <option key={name} value={name}>
              {messages.densities[name]}
            </option>
          ))}
        </select>
      </label>
      <label class="setting">
        <span>{messages.language}</span>
        <select class="choice" value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
          <option value="">{messages.browserLanguage}</option>
          {Object.entries(languageNames).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <EditorSettings />
      <NotificationSettings />
    </Dialog>
  );
}

const themes: readonly Settings["theme"][] = ["system", "light", "dark"];

const densities: readonly Settings["density"][] = ["comfortable", "compact"];

function toDensity(value: string): Settings["density"] {
  return densities.find((density) => density === value) ?? "comfortable";
}

function toTheme(value: string): Settings["theme"] {
  return themes.find((theme) => theme === value) ?? "system";
}
