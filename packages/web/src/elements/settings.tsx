import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What the user chose for this browser. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  /** "" follows the browser. */
  readonly language: string;
  readonly diffLayout: "unified" | "split";
}

export interface SettingsPort {
  readonly settings: Settings;
  readonly change: (settings: Partial<Settings>) => void;
}

const defaultSettings: Settings = { theme: "system", language: "", diffLayout: "unified" };

export const SettingsContext = createContext<SettingsPort>({ settings: defaultSettings, change: () => undefined });

export function useSetting<Name extends keyof Settings>(
  name: Name,
): readonly [Settings[Name], (value: Settings[Name]) => void] {
  const { settings, change } = useContext(SettingsContext);
  return [settings[name], (value) => change({ [name]: value })];
}

const storageName = "sheaf-settings";

/** Settings of this browser. Unknown values are ignored; missing storage is not an error. */
export function readSettings(storage: Storage | undefined): Settings {
  try {
    const stored = JSON.parse(storage?.getItem(storageName) ?? "{}") as Readonly<Record<string, unknown>>;
    const { theme, language, diffLayout } = stored;
    return {
      theme: theme === "light" || theme === "dark" ? theme : "system",
      language: typeof language === "string" ? language : "",
      diffLayout: diffLayout === "split" ? "split" : "unified",
    };
  } catch {
    return defaultSettings;
  }
}

export function writeSettings(storage: Storage | undefined, settings: Settings): void {
  try {
    storage?.setItem(storageName, JSON.stringify(settings));
  } catch {
    // Storage is full or forbidden: the choice lasts for this visit.
  }
}
