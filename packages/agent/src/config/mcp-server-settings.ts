/** A server of the Model Context Protocol, as the user named it. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

interface CommonSettings {
  /** Seconds that one call may take without a sign of progress. Default 60. */
  readonly timeoutSeconds?: number | undefined;
}

/** A program that is started for the run, and ended with it. */
export interface StdioServerSettings extends CommonSettings {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Beside the few variables that every program gets (S-40). */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute; default: the workspace. */
  readonly cwd?: string | undefined;
}

/** A server that runs already (streamable HTTP). */
export interface HttpServerSettings extends CommonSettings {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** By the name that the user gave: letters, digits, dashes and points. */
export type McpServers = Readonly<Record<string, McpServerSettings>>;
