/** Files that list tool servers: `{"mcpServers": {NAME: {…}}}`. */
import { formatProblem, isJsonObject, parseValue, parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { readStats } from "@sheaf/base/files/repository";
import { isServerName, mcpServer, serverNameRule, type McpServerSettings } from "./mcp-settings.ts";

/** Largest list that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** Servers in the order of the file; empty without a file. @throws SheafError CONFIG_INVALID with `advice`. */
export function readServerList(file: string, advice: string): readonly (readonly [name: string, entry: unknown])[] {
  const createFault = (problem: string): SheafError =>
    new SheafError("CONFIG_INVALID", `${file} ${problem}: ${advice}`);
  const text = readSmallFile(file, MAX_BYTES);
  if (text === undefined) {
    if (!readStats(file)) return [];
    throw createFault(`cannot be read as a file of at most ${MAX_BYTES} bytes`);
  }
  const value = parseJson(text);
  if (value === undefined) throw createFault("is not JSON");
  const servers = isJsonObject(value) ? (value["mcpServers"] ?? {}) : undefined;
  if (isJsonObject(servers)) return Object.entries(servers);
  throw createFault('is not a list of servers ({"mcpServers": {…}})');
}

/** The settings of an entry, or why it is not used. */
export function parseServerEntry(name: string, value: unknown): McpServerSettings | string {
  if (!isServerName(name)) return `its name is not ${serverNameRule}`;
  const parsed = parseValue(mcpServer, value);
  if (parsed.ok) return parsed.value;
  const [problem] = parsed.problems;
  return `Sheaf does not know entries of this form${problem ? ` (${formatProblem(problem)})` : ""}`;
}
