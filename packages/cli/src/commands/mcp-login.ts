/** `sheaf mcp login NAME` and `logout NAME` manage the user's login to a server that requires one (S-170). */
import { createInterface } from "node:readline";
import { SheafError } from "@sheaf/base/errors";
import { createConfig } from "@sheaf/agent/config/config";
import { hasOwnAuthorization, type HttpServerSettings } from "@sheaf/agent/config/mcp-settings";
import { chooseServers } from "@sheaf/agent/config/workspace-servers";
import { openPage } from "@sheaf/sandbox/launch/open-page";
import { openServerLogin } from "@sheaf/agent/assemble/wire-servers";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { readConfigFile, toRawSettings } from "../run-config.ts";
import { createRunControl } from "../signals.ts";
import { printText } from "../standard-output.ts";

/** Logs in to a server. @throws SheafError USAGE, AUTH_REJECTED, CONFIG_INVALID, NETWORK, CANCELLED. */
export async function runMcpLogin(parsed: ParsedArguments, io: CommandIo, name: string): Promise<number> {
  const { settings, workspace } = findServer(name, parsed, io);
  const { environment } = io;
  const input = io.findInputKind();
  const pastes = parsed.flags["no-browser"] === true;
  const opensPage = !pastes && io.isInputTerminal && io.isOutputTerminal;
  // Read a pipe only with --no-browser: its end doesn't show that the user's browser has given up.
  const isRead = input === "terminal" || (pastes && input !== "none" && input !== "file");
  const lines = isRead ? createInterface({ input: io.openInput() }) : undefined;
  const control = createRunControl(io);
  try {
    const { openMcpLogin } = await openServerLogin();
    const person = {
      pasted: lines,
      show(address: URL) {
        const host = toVisibleLine(address.host);
        io.writeError(`Log in to ${name} at ${host}, in a browser:\n\n  ${address.href}\n\n`);
        if (lines) io.writeError("If that browser is on another machine, paste the address at which it ends.\n");
        if (opensPage) openPage(address, environment, workspace);
      },
      refuse: () => io.writeError("This is not the address of this login: paste all of it.\n"),
    };
    await openMcpLogin({ name, settings, environment }, person, control.signal);
  } finally {
    control.close();
    lines?.close();
    if (lines) io.openInput().destroy();
  }
  return printText(io, `Logged in to ${name}.\n`);
}

/** Deletes a login; for a server without one, it still succeeds. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runMcpLogout(parsed: ParsedArguments, io: CommandIo, name: string): Promise<number> {
  const isThere = await forgetLogin(io, name);
  if (!isThere) {
    const { settings, reason } = readServer(name, parsed, io);
    if (!settings && reason === undefined) throw createUnknownError(name);
  }
  return printText(io, isThere ? `Forgotten: the login to ${name}.\n` : `No login to ${name} to forget.\n`);
}

/** Deletes a login; returns false without one. @throws SheafError CONFIG_INVALID. */
export async function forgetLogin(io: CommandIo, name: string): Promise<boolean> {
  const control = createRunControl(io);
  try {
    const { endServerLogin } = await openServerLogin();
    return await endServerLogin(name, io.environment, control.signal);
  } finally {
    control.close();
  }
}

function createUnknownError(name: string): SheafError {
  return new SheafError("USAGE", `there is no MCP server "${name}": see sheaf mcp list`);
}

/** Reads the settings of a server that a run would use, or the reason why it would not. */
function readServer(name: string, { flags }: ParsedArguments, io: CommandIo) {
  const { environment } = io;
  const { found } = readConfigFile(io);
  const raw = { ...toRawSettings(flags), ...io.settings };
  const config = createConfig(raw, environment, io.cwd, found);
  const trusted = config.findTrust();
  const { servers, leftOut } = chooseServers({ ...config, trusted, environment });
  const reason = leftOut.find((server) => server.name === name)?.problem;
  return { settings: servers[name], reason, workspace: config.workspace };
}

/** Finds a server that a run would use: a repository's server requires the user's approval first. */
function findServer(
  name: string,
  parsed: ParsedArguments,
  io: CommandIo,
): { readonly settings: HttpServerSettings; readonly workspace: string } {
  const { settings, reason, workspace } = readServer(name, parsed, io);
  if (reason !== undefined) throw new SheafError("USAGE", `the MCP server ${name} cannot be used: ${reason}`);
  if (!settings) throw createUnknownError(name);
  if (!("url" in settings))
    throw new SheafError("USAGE", `${name} is a program: only a server with an address has a login`);
  if (hasOwnAuthorization(settings)) {
    throw new SheafError("USAGE", `${name} has a header Authorization: remove it, or use it instead of a login`);
  }
  return { settings, workspace };
}
