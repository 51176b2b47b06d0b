/** A model's window, by the user, by the provider's list of models, or by Sheaf's table. */
import { join } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { findKnownWindow } from "@sheaf/models/known-windows";
import { changePrivateFile, readPrivateFile, type PrivateFile } from "./private-file.ts";
import { toProviders } from "./providers.ts";
import type { UserConfig } from "./user-config.ts";

/** Limits of plausible windows; others are mistakes. Tokens. */
const smallest = 1000;
const largest = 1e9;

/** The file for the lists of providers. */
function toTarget(dataFolder: string): PrivateFile {
  return { file: join(dataFolder, "model-windows.json"), subject: "the list of windows", remedy: "remove it" };
}

/** Tokens by model name, as `sheaf models` last read them; empty if the file cannot be read. */
function readListedWindows(dataFolder: string): ReadonlyMap<string, number> {
  try {
    return parseWindows(readPrivateFile(toTarget(dataFolder)));
  } catch {
    return new Map();
  }
}

function parseWindows(text = "{}"): ReadonlyMap<string, number> {
  return new Map(Object.entries(parseJson(text) ?? {}).filter(([, tokens]) => isWindow(tokens)));
}

function isWindow(tokens: unknown): tokens is number {
  return Number.isInteger(tokens) && Number(tokens) >= smallest && Number(tokens) <= largest;
}

/** Replaces the windows of a provider's models. A list that cannot be stored still helps its reader. */
export function keepListedWindows(dataFolder: string, provider: string, windows: ReadonlyMap<string, number>): void {
  const own = [...windows].filter(([, tokens]) => isWindow(tokens));
  try {
    changePrivateFile(toTarget(dataFolder), (text) => {
      const before = parseWindows(text);
      const others = [...before].filter(([name]) => !name.startsWith(`${provider}/`));
      if (own.length === 0 && others.length === before.size) return text;
      return `${JSON.stringify(Object.fromEntries([...others, ...own]))}\n`;
    });
  } catch {
    // The old list stays.
  }
}

interface WindowSources {
  readonly settings: UserConfig;
  /** Undefined: Sheaf keeps no list. */
  readonly dataFolder: string | undefined;
  /** `--base-url`: another server than the provider's own may have other limits. */
  readonly baseUrl: string | undefined;
}

/** The window of a model; undefined: not known. Tokens. */
export function findWindowTokens(name: string, { settings, dataFolder, baseUrl }: WindowSources): number | undefined {
  const configured = settings.contextTokens?.[name];
  if (configured !== undefined || baseUrl !== undefined) return configured;
  const listed = dataFolder === undefined ? undefined : readListedWindows(dataFolder).get(name);
  if (listed !== undefined) return listed;
  const [provider = ""] = name.split("/", 1);
  // A server on this machine loads a model with a window of its user's choice.
  const isHosted = toProviders(settings).get(provider)?.isLocal === false;
  return isHosted ? findKnownWindow(name.slice(provider.length + 1)) : undefined;
}
