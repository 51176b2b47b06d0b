/** The user's settings in this browser. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  /** Language of the page; "" follows the browser. */
  readonly language: string;
  readonly diffLayout: "unified" | "split";
  /** True if the user wants notifications, which the browser must allow as well. */
  readonly notifications: boolean;
  /** True if notifications show the conversation's title. */
  readonly notificationTitles: boolean;
  /** The editor that opens files on this computer; "" for no editor. */
  readonly editor: string;
  /** Path of the workspace on this computer, as the user typed it. */
  readonly editorFolder: string;
}

export const defaultSettings: Settings = {
  theme: "system",
  density: "comfortable",
  language: "",
  diffLayout: "unified",
  notifications: false,
  notificationTitles: false,
  editor: "",
  editorFolder: "",
};

/** Key in `localStorage`; `public/appearance.js` reads it too. */
export const storageName = "sheaf-settings";

/** Reads this browser's settings, without unknown values; missing storage isn't an error. */
export function readSettings(storage: Storage | undefined): Settings {
  try {
    const stored = JSON.parse(storage?.getItem(storageName) ?? "{}") as Readonly<Record<string, unknown>>;
    const { theme, density, language, diffLayout, notifications, notificationTitles, editor, editorFolder } = stored;
    return {
      theme: theme === "light" || theme === "dark" ? theme : "system",
      density: density === "compact" ? "compact" : "comfortable",
      language: typeof language === "string" ? language : "",
      diffLayout: diffLayout === "split" ? "split" : "unified",
      notifications: notifications === true,
      notificationTitles: notificationTitles === true,
      editor: typeof editor === "string" ? editor : "",
      editorFolder: typeof editorFolder === "string" ? editorFolder : "",
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
