/** The servers of the user's own `~/.cursor/mcp.json` (S-108). What cannot be used has a reason, and ends no run. */
import { isAbsolute } from "node:path";
import { isJsonObject } from "@sheaf/protocol/check-value";
import { toSheafError } from "@sheaf/base/errors";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toRealPlace } from "@sheaf/base/files/repository";
import { isBelow } from "@sheaf/base/files/workspace";
import { fillEntry, type FillPlaces } from "./fill-entry.ts";
import type { McpServerSettings } from "./mcp-settings.ts";
import { parseServerEntry, readServerList } from "./server-list.ts";

/** Largest file of variables that is read. Bytes. */
const MAX_BYTES = 64 * 1024;

export interface CursorPlaces extends FillPlaces {
  /** The user's list of Cursor's servers; undefined: it is not read (S-108). */
  readonly cursorFile?: string | undefined;
  /** S-03. */
  readonly trusted: boolean;
  readonly addedFolders: readonly string[];
}

type CursorServer = { readonly name: string } & (
  | { readonly settings: McpServerSettings; readonly problem?: undefined }
  | { readonly settings?: undefined; readonly problem: string }
);

/** Servers in the order of the file; an unreadable file is an entry by its own name. */
export function readCursorServers(places: CursorPlaces): readonly CursorServer[] {
  const { cursorFile: file } = places;
  if (file === undefined) return [];
  try {
    return readServerList(file, "fix it").map(([name, entry]) => {
      const settings = parseCursorEntry(name, entry, places);
      return typeof settings === "string" ? { name, problem: settings } : { name, settings };
    });
  } catch (error) {
    return [{ name: ".cursor/mcp.json", problem: toSheafError(error).message }];
  }
}

function parseCursorEntry(name: string, entry: unknown, places: CursorPlaces): McpServerSettings | string {
  const filled = fillEntry(entry, places);
  if (!filled.ok) return filled.problem;
  const count = (value: unknown): number =>
    JSON.stringify(value).split(JSON.stringify(places.workspace).slice(1, -1)).length;
  if (!places.trusted && count(filled.value) > count(entry)) return "it works in the workspace, which is not trusted";
  if (!isJsonObject(filled.value)) return parseServerEntry(name, filled.value);
  const { envFile, ...rest } = filled.value;
  if (envFile === undefined) return parseServerEntry(name, rest);
  const variables = readVariables(envFile, places);
  if (typeof variables === "string") return variables;
  const { env = {} } = rest;
  return parseServerEntry(name, { ...rest, env: isJsonObject(env) ? { ...variables, ...env } : env });
}

/** Refuses a file that commands can write: its variables would affect programs outside the sandbox (S-88). */
function readVariables(
  file: unknown,
  { workspace, addedFolders }: CursorPlaces,
): Readonly<Record<string, unknown>> | string {
  if (typeof file !== "string" || !isAbsolute(file)) return "its envFile is not an absolute path";
  const place = toRealPlace(file);
  if ([workspace, ...addedFolders.map(toRealPlace)].some((folder) => isBelow(place, folder))) {
    return "its envFile is in the workspace, where commands can change it: move it elsewhere";
  }
  const text = readSmallFile(file, MAX_BYTES);
  return text === undefined
    ? `its envFile cannot be read as a file of at most ${MAX_BYTES} bytes`
    : process.getBuiltinModule("node:util").parseEnv(text);
}
