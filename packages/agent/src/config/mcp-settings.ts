/** Servers of the Model Context Protocol in a configuration, in the form that other programs use for theirs. */
import { isAbsolute } from "node:path";
import * as s from "@sheaf/protocol/schema";
import { headerFields } from "./key-text.ts";

/** What the name of a server must be, in words. */
export const serverNameRule = "a name of letters, digits, points and dashes, at most 32";

/** Whether a server may have this name. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,31}$/.test(name);
}

const filled = s.string({ minLength: 1 });
const seconds = s.optional(s.number({ exclusiveMinimum: 0, maximum: 86_400 }));

const limits = {
  /** Seconds that one call may take without a sign of progress. Default 60. */
  timeoutSeconds: seconds,
  /** Seconds that the server may take to be ready. Default 30. */
  startTimeoutSeconds: seconds,
};

const stdioServer = s.object({
  type: s.optional(s.literal("stdio")),
  /** A relative path would depend on the folder. */
  command: s.refine(
    filled,
    "the name of a program, or its absolute path",
    (text) => !text.includes("/") || isAbsolute(text),
  ),
  args: s.optional(s.list(s.string())),
  /** In addition to the few variables that every program gets (S-40). */
  env: s.optional(s.record(s.string(), s.refine(s.string({ pattern: "^[A-Za-z_]\\w*$" }), "the name of a variable"))),
  /** Absolute, or `.` for the workspace, where files of the workspace may decide what runs. Default: the home folder (S-88). */
  cwd: s.optional(s.refine(filled, 'an absolute path, or "."', (text) => text === "." || isAbsolute(text))),
  ...limits,
});

/** A program that is started for the run and ends with it. */
export interface StdioServerSettings extends s.ValueOf<typeof stdioServer> {}

const httpServer = s.object({
  type: s.optional(s.literal("http")),
  url: s.refine(s.string({ format: "uri" }), "an address that begins with http:// or https://", isHttpAddress),
  headers: s.optional(headerFields),
  ...limits,
});

/** A server that is already running (streamable HTTP). */
export interface HttpServerSettings extends s.ValueOf<typeof httpServer> {}

/** A server of the Model Context Protocol, as the user named it. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

/** By the name that the user gave: letters, digits, dashes and points. */
export type McpServers = Readonly<Record<string, McpServerSettings>>;

/** `{"command", "args", "env", "cwd"} | {"url", "headers"}`. */
export const mcpServer: s.Schema<McpServerSettings> = s.either([s.strict(stdioServer), s.strict(httpServer)]);

/** By name. */
export const mcpServers: s.Schema<McpServers> = s.record<McpServerSettings>(
  mcpServer,
  s.refine(s.string(), serverNameRule, isServerName),
);

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
