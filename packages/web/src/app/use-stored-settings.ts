import { useEffect, useMemo, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";
import type { SettingsPort } from "../elements/settings.tsx";
import { readSettings, type Settings, storageName, writeSettings } from "../elements/stored-settings.ts";
import { findStorage } from "./find-storage.ts";

/** The settings of this browser; what one tab changes, the others show at once. */
export function useStoredSettings(): SettingsPort {
  const [settings, setSettings] = useState(() => readSettings(findStorage()));
  useEffect(() => {
    const take = ({ key }: StorageEvent): void => {
      if (key === null || key === storageName) setSettings(readSettings(findStorage()));
    };
    return listen(window, ["storage"], take);
  }, []);
  return useMemo(
    () => ({
      settings,
      change: (change: Partial<Settings>) => {
        const next = { ...settings, ...change };
        writeSettings(findStorage(), next);
        setSettings(next);
      },
    }),
    [settings],
  );
}
