/** `sheaf mcp trust`: says yes to servers that a workspace names, one by one, after showing what each is (S-87). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { confirm, isCancel } from "@clack/prompts";
import { SheafError } from "../../base/errors.ts";
import { createConfig, type Config } from "../../config/config.ts";
import { readTrust, writeTrust, type TrustedServer } from "../../config/trust.ts";
import { readWorkspaceServers, serverFiles, type WorkspaceServer } from "../../config/workspace-servers.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { toVisibleCharacters } from "../../tools/approval-question.ts";
import { findRepository } from "../../workspace/repository.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { toRawSettings } from "../run-config.ts";
import { printText } from "../standard-output.ts";

type UsableServer = Exclude<WorkspaceServer, { state: "unusable" }>;

/** `names`: only these. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runMcpTrust(
  { flags }: ParsedArguments,
  io: CommandIo,
  names: readonly string[],
): Promise<number> {
  const config = createConfig(toRawSettings(flags), io.environment, io.cwd);
  if (flags.remove) return forget(config, names);
  if (!config.findTrust()) {
    throw new SheafError("USAGE", `the workspace ${config.workspace} is not trusted: trust it first, with sheaf trust`);
  }
  const chosen = chooseNamed(readWorkspaceServers({ ...config, environment: io.environment }), names, config);
  if (flags.digest !== undefined) return trustByDigest(chosen, flags.digest, config);
  if (chosen.length === 0) return printText(`${toServerFiles(config)} names no servers.\n`);
  for (const server of chosen) {
    await printText(describe(server));
    if (server.state !== "not_trusted" && server.state !== "changed") continue;
    if (!io.isInputTerminal || !io.isOutputTerminal) throw createAskError(server);
    const answer = await confirm({ message: `Trust ${server.name}?`, initialValue: false });
    if (isCancel(answer)) throw new SheafError("CANCELLED", "cancelled at a question", { source: "user" });
    if (!answer) continue;
    addYes(server, config);
    await printText(`Trusted: ${server.name}\n`);
  }
  return 0;
}

function chooseNamed(
  servers: readonly WorkspaceServer[],
  names: readonly string[],
  config: Config,
): readonly WorkspaceServer[] {
  const unknown = names.find((name) => !servers.some((server) => server.name === name));
  if (unknown === undefined) return servers.filter(({ name }) => names.length === 0 || names.includes(name));
  const known = servers.length === 0 ? "it names none" : `it names ${servers.map(({ name }) => name).join(", ")}`;
  throw new SheafError("USAGE", `${toServerFiles(config)} has no server "${unknown}": ${known}`);
}

/** Those that exist, or else the first. */
function toServerFiles({ workspace }: Config): string {
  const [first] = serverFiles;
  const existing = serverFiles.filter((file) => existsSync(join(workspace, file)));
  return (existing.length === 0 ? [first] : existing).map((file) => join(workspace, file)).join(" or ");
}

/** Where nobody can be asked, the caller has seen the content elsewhere, and names it. */
function trustByDigest(chosen: readonly WorkspaceServer[], digest: string, config: Config): Promise<number> {
  const [server, ...others] = chosen;
  if (!server || others.length > 0) {
    throw new SheafError("USAGE", "--digest goes with the name of one server: sheaf mcp trust NAME --digest HEX");
  }
  if (server.state === "unusable") throw new SheafError("USAGE", `${server.name} cannot be trusted: ${server.problem}`);
  if (server.digest !== digest) {
    const message = `the content of ${server.name} is not the one of --digest ${digest}: look at it with sheaf mcp trust`;
    throw new SheafError("USAGE", message);
  }
  addYes(server, config);
  return printText(`Trusted: ${server.name}\n`);
}

function createAskError({ name, digest }: UsableServer): SheafError {
  const advice = `run sheaf mcp trust in one, or name what you have looked at: sheaf mcp trust ${name} --digest ${digest}`;
  return new SheafError("USAGE", `nobody can be asked without a terminal: ${advice}`);
}

function addYes({ name, digest }: UsableServer, { workspace, dataFolder }: Config): void {
  const repository = findRepository(workspace);
  const { repositories, servers } = readTrust(dataFolder);
  const others = servers.filter((server) => server.repository.root !== repository.root || server.name !== name);
  writeTrust(dataFolder, { repositories, servers: [...others, { repository, name, digest }] });
}

/** Also a server that the workspace no longer names can be forgotten. */
function forget({ workspace, dataFolder }: Config, names: readonly string[]): Promise<number> {
  const { root } = findRepository(workspace);
  const { repositories, servers } = readTrust(dataFolder);
  const isForgotten = ({ repository, name }: TrustedServer): boolean =>
    repository.root === root && (names.length === 0 || names.includes(name));
  const forgotten = servers.filter(isForgotten).map(({ name }) => name);
  if (forgotten.length === 0) return printText("None of these servers was trusted.\n");
  writeTrust(dataFolder, { repositories, servers: servers.filter((server) => !isForgotten(server)) });
  return printText(`Not trusted any more: ${toVisibleLine(forgotten.join(", "))}\n`);
}

const stateWords = {
  trusted: "trusted",
  changed: "changed since you trusted it",
  not_trusted: "not trusted",
} as const;

/** All of what a yes would be bound to, but the values of headers. Each part is quoted, so that none looks like another. */
function describe(server: WorkspaceServer): string {
  if (server.state === "unusable") return toVisibleLine(`${server.name}: not used (${server.problem})`) + "\n\n";
  const { name, written: settings, variables, digest, state } = server;
  const lines =
    "url" in settings
      ? [
          "reached over the network",
          `address   ${quote(settings.url)} on ${quote(new URL(settings.url).host)}`,
          ...Object.keys(settings.headers ?? {}).map((header) => `header    ${quote(header)}`),
        ]
      : [
          "a program that starts outside the sandbox, with your rights",
          `program   ${quote(settings.command)}`,
          ...(settings.args ?? []).map((word) => `argument  ${quote(word)}`),
          ...Object.entries(settings.env ?? {}).map(([variable, value]) => `variable  ${variable}=${quote(value)}`),
          ...(settings.cwd === undefined ? [] : [`folder    ${quote(settings.cwd)}`]),
        ];
  const head = `${name}: ${stateWords[state]}`;
  const given = variables.map((variable) => `gets      your variable ${quote(variable)}`);
  return [head, ...[...lines, ...given, `digest    ${digest}`].map((line) => `  ${line}`), "", ""].join("\n");
}

function quote(text: string): string {
  return toVisibleCharacters(JSON.stringify(text));
}
