/** Servers of the Model Context Protocol in a configuration, in the form that other programs use for theirs. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { formatProblem, parseValue } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "../base/errors.ts";
import { headerFields } from "./key-text.ts";

/** Largest `.mcp.json` that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** What the name of a server must be, in words. */
export const serverNameRule = "a name of letters, digits, points and dashes, at most 32";

/** Whether a server may have this name. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,31}$/.test(name);
}

const filled = s.string({ minLength: 1 });
/** Seconds that one call may take without a sign of progress. Default 60. */
const timeoutSeconds = s.optional(s.number({ exclusiveMinimum: 0, maximum: 86_400 }));

const stdioServer = s.object({
  type: s.optional(s.literal("stdio")),
  command: filled,
  args: s.optional(s.list(s.string())),
  /** In addition to the few variables that every program gets (S-40). */
  env: s.optional(s.record(s.string(), s.refine(s.string({ pattern: "^[A-Za-z_]\\w*$" }), "the name of a variable"))),
  /** Absolute; default: the workspace. */
  cwd: s.optional(s.refine(filled, "an absolute path", isAbsolute)),
  /** Seconds that one call may take without a sign of progress. Default 60. */
  timeoutSeconds,
});

/** A program that is started for the run and ends with it. */
export interface StdioServerSettings extends s.ValueOf<typeof stdioServer> {}

const httpServer = s.object({
  type: s.optional(s.literal("http")),
  url: s.refine(s.string({ format: "uri" }), "an address that begins with http:// or https://", isHttpAddress),
  headers: s.optional(headerFields),
  /** Seconds that one call may take without a sign of progress. Default 60. */
  timeoutSeconds,
});

/** A server that is already running (streamable HTTP). */
export interface HttpServerSettings extends s.ValueOf<typeof httpServer> {}

/** A server of the Model Context Protocol, as the user named it. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

/** By the name that the user gave: letters, digits, dashes and points. */
export type McpServers = Readonly<Record<string, McpServerSettings>>;

/** `{"NAME": {"command", "args", "env", "cwd"} | {"url", "headers"}}`. */
export const mcpServers: s.Schema<McpServers> = s.record<McpServerSettings>(
  s.either([s.strict(stdioServer), s.strict(httpServer)]),
  s.refine(s.string(), serverNameRule, isServerName),
);

const workspaceFile = s.object({ mcpServers: s.optional(mcpServers) });

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/**
 * The servers that a trusted workspace names in its `.mcp.json`. For any other workspace nothing is read (S-01); the
 * user's own servers take precedence over those of the same name (S-06).
 * @throws SheafError CONFIG_INVALID for a file that cannot be read as one.
 */
export function readWorkspaceServers(workspace: string, trusted: boolean): McpServers {
  if (!trusted) return {};
  const file = join(workspace, ".mcp.json");
  const text = readText(file);
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createFault(file, "is not JSON");
  }
  const parsed = parseValue(workspaceFile, value);
  if (parsed.ok) return parsed.value.mcpServers ?? {};
  const [first] = parsed.problems;
  throw createFault(file, `is not a list of servers ({"mcpServers": {…}})${first ? `: ${formatProblem(first)}` : ""}`);
}

function readText(file: string): string | undefined {
  try {
    const stat = statSync(file);
    // Reading a pipe would block.
    if (!stat.isFile()) throw createFault(file, "is not a file");
    if (stat.size > MAX_BYTES) throw createFault(file, `is larger than ${MAX_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw createFault(file, `cannot be read (${code})`, error);
  }
}

function createFault(file: string, problem: string, cause?: unknown): SheafError {
  const advice = "fix it, or revoke the trust with sheaf trust --remove";
  return new SheafError("CONFIG_INVALID", `${file} ${problem}: ${advice}`, { cause });
}
