import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { defaultSettings, type Settings } from "./stored-settings.ts";

export interface SettingsPort {
  readonly settings: Settings;
  readonly change: (settings: Partial<Settings>) => void;
}

export const SettingsContext = createContext<SettingsPort>({ settings: defaultSettings, change: () => undefined });

export function useSetting<Name extends keyof Settings>(
  name: Name,
): readonly [Settings[Name], (value: Settings[Name]) => void] {
  const { settings, change } = useContext(SettingsContext);
  return [settings[name], (value) => change({ [name]: value })];
}
