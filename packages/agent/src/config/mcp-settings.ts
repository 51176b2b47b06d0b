/** Servers of the Model Context Protocol in a configuration, in the form that other programs use for theirs. */
import { isAbsolute } from "node:path";
import * as s from "@sheaf/protocol/schema";
import { headerFields } from "./key-text.ts";

/** The rule for names of servers, in words. */
export const serverNameRule = "a name of letters, digits, points and dashes, at most 32";

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
  /** Variables in addition to the few that every program gets (S-40). */
  env: s.optional(s.record(s.string(), s.refine(s.string({ pattern: "^[A-Za-z_]\\w*$" }), "the name of a variable"))),
  /** Absolute, or `.` for the workspace, whose files may then decide what runs. Default: the home folder (S-88). */
  cwd: s.optional(s.refine(filled, 'an absolute path, or "."', (text) => text === "." || isAbsolute(text))),
  /** True: it runs like a command that only reads (S-258). */
  sandbox: s.optional(s.boolean()),
  ...limits,
});

/** A program that is started for the run and ends with it. */
export interface StdioServerSettings extends s.ValueOf<typeof stdioServer> {}

const oauth = s.strict(
  s.object({
    /** The id of a client that was registered by hand. */
    clientId: s.optional(filled),
    clientSecret: s.optional(filled),
    /** Address of a document that describes the client (https). */
    clientMetadataUrl: s.optional(s.refine(filled, "an address that starts with https://", isSecureAddress)),
    /** Rights that the login asks for, separated by spaces. Default: the server's own list. */
    scope: s.optional(filled),
    /** Port for the browser's return, on 127.0.0.1. Default: any free port. */
    redirectPort: s.optional(s.integer({ minimum: 1, maximum: 65_535 })),
  }),
);

/** Settings of `sheaf mcp login` for a server. */
export interface OauthSettings extends s.ValueOf<typeof oauth> {}

const httpServer = s.object({
  type: s.optional(s.literal("http")),
  url: s.refine(s.string({ format: "uri" }), "an address that starts with http:// or https://", isHttpAddress),
  headers: s.optional(headerFields),
  oauth: s.optional<OauthSettings>(oauth),
  ...limits,
});

/** A server that is already running (streamable HTTP). */
export interface HttpServerSettings extends s.ValueOf<typeof httpServer> {}

/** True if the user set a key in its headers, so that Sheaf uses no login. */
export function hasOwnAuthorization({ headers = {} }: HttpServerSettings): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/** A server of the Model Context Protocol, as the user named it. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

/** True if it may only run in the sandbox. */
export function isHeld(settings: McpServerSettings): settings is StdioServerSettings {
  return "sandbox" in settings && (settings.sandbox ?? false);
}

/** Servers by the names that the user chose: letters, digits, dashes and points. */
export type McpServers = Readonly<Record<string, McpServerSettings>>;

/** `{"command", "args", "env", "cwd"} | {"url", "headers"}`. */
export const mcpServer: s.Schema<McpServerSettings> = s.either([s.strict(stdioServer), s.strict(httpServer)]);

/** Servers by name. */
export const mcpServers: s.Schema<McpServers> = s.record<McpServerSettings>(
  mcpServer,
  s.refine(s.string(), serverNameRule, isServerName),
);

function isHttpAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

function isSecureAddress(text: string): boolean {
  return URL.parse(text)?.protocol === "https:";
}
