/** What the user chose for this browser. */
export interface Settings {
  readonly theme: "system" | "light" | "dark";
  readonly density: "comfortable" | "compact";
  /** "" follows the browser. */
  readonly language: string;
  readonly diffLayout: "unified" | "split";
  /** The browser must allow them, too. */
  readonly notifications: boolean;
  /** True if they name the conversation. */
  readonly notificationTitles: boolean;
  /** Opens files on this computer; "": none. */
  readonly editor: string;
  /** The place where the workspace is on this computer, as the user typed it. */
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

/** Settings of this browser. Unknown values are ignored; missing storage is not an error. */
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
