/** `sheaf mcp trust`: says yes to servers that a workspace names, one by one, after showing what each is (S-87). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { readWorkspaceServers, serverFiles, type WorkspaceServer } from "@sheaf/agent/config/workspace-servers";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { toRawSettings } from "../run-config.ts";
import { quoteVisible, runTrustContents, type Trustable } from "./trust-contents.ts";

/** `names`: only these. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runMcpTrust(
  { flags }: ParsedArguments,
  io: CommandIo,
  names: readonly string[],
): Promise<number> {
  const config = createConfig(toRawSettings(flags), io.environment, io.cwd);
  const readServers = (): Trustable[] =>
    readWorkspaceServers({ ...config, environment: io.environment }).map((server) =>
      server.state === "unusable" ? server : { ...server, lines: describe(server) },
    );
  const source = toServerFiles(config);
  const subject = { kind: "servers", command: "mcp trust", noun: "server", source } as const;
  return runTrustContents(readServers, subject, { names, flags, io, config });
}

/** Those that exist, or else the first. */
function toServerFiles({ workspace }: Config): string {
  const [first] = serverFiles;
  const existing = serverFiles.filter((file) => existsSync(join(workspace, file)));
  return (existing.length === 0 ? [first] : existing).map((file) => join(workspace, file)).join(" or ");
}

/** All of what a yes would be bound to, but the values of headers. */
function describe({ written: settings, variables }: Exclude<WorkspaceServer, { state: "unusable" }>): string[] {
  const lines =
    "url" in settings
      ? [
          "reached over the network",
          `address   ${quoteVisible(settings.url)} on ${quoteVisible(new URL(settings.url).host)}`,
          ...Object.keys(settings.headers ?? {}).map((header) => `header    ${quoteVisible(header)}`),
          ...Object.entries(settings.oauth ?? {}).map(([key, value]) => `login     ${key}=${toShown(key, value)}`),
        ]
      : [
          "a program that starts outside the sandbox, with your rights",
          `program   ${quoteVisible(settings.command)}`,
          ...(settings.args ?? []).map((word) => `argument  ${quoteVisible(word)}`),
          ...Object.entries(settings.env ?? {}).map(([name, value]) => `variable  ${name}=${quoteVisible(value)}`),
          ...(settings.cwd === undefined ? [] : [`folder    ${quoteVisible(settings.cwd)}`]),
        ];
  return [...lines, ...variables.map((variable) => `gets      your variable ${quoteVisible(variable)}`)];
}

function toShown(key: string, value: unknown): string {
  return key === "clientSecret" ? "…" : quoteVisible(String(value));
}
