/** `sheaf permissions explain` and `sheaf permissions check` show the permissions of a run with the same flags. */
import type { Config } from "@sheaf/agent/config/config";
import { SheafError } from "@sheaf/base/errors";
import { toVisibleJson, toVisibleLine } from "@sheaf/agent/output/visible-text";
import { deny, toFullReason, type PermissionDecision } from "@sheaf/permissions/decision";
import { explainPolicy, type ExplainedPolicy, type SourcedRule } from "@sheaf/permissions/explain-policy";
import { preparePolicy, type PreparedPolicy } from "@sheaf/agent/assemble/prepare-policy";
import { findFault } from "@sheaf/sandbox/sandbox";
import { readFileTool } from "@sheaf/agent/tools/read-file";
import { chooseWorkspace, listSpellings } from "@sheaf/agent/tools/real-arguments";
import { runTerminalCmdTool } from "@sheaf/agent/tools/run-terminal-cmd";
import { webFetchTool } from "@sheaf/agent/tools/web-fetch";
import { writeFileTool } from "@sheaf/agent/tools/write-file";
import { findProtection } from "@sheaf/base/files/protected-names";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";
import { readConfigFile, toConfig } from "../run-config.ts";

/** Prints the policy, or one decision; any decision exits with 0. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runPermissions(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const config = toConfig(parsed.flags, io);
  const { settings } = readConfigFile(io);
  const trusted = config.findTrust();
  const { environment } = io;
  const policy = await preparePolicy({ ...config, trusted, environment, sandboxMemory: undefined, now: Date.now });
  const isJson = toCommandFormat(parsed) === "json";
  switch (parsed.positionals.join(" ")) {
    case "explain": {
      const rules = toSourcedRules(parsed.flags, settings.permissions, policy.workspaceDenials);
      const explained = explainPolicy({ ...toFacts(config, policy), trusted, rules });
      return isJson ? printJson(io, explained) : printText(io, formatPolicy(explained));
    }
    case "check": {
      const decided = await checkCase(parsed.flags, policy);
      const { decision } = decided;
      const rule = ("rule" in decided && decided.rule) || null;
      const reason = toFullReason(decided);
      const isRule = rule === null ? "" : ` (${rule})`;
      if (isJson) return printText(io, `${JSON.stringify({ decision, rule, reason })}\n`, toVisibleJson);
      return printText(io, `${decision}${isRule}: ${toVisibleLine(reason)}\n`);
    }
    default:
      throw new SheafError("USAGE", "permissions needs explain or check: write sheaf permissions explain");
  }
}

function toFacts({ mode, permissions }: Config, { sandbox, addedWorkspaces }: PreparedPolicy) {
  const addedFolders = addedWorkspaces.map(({ root }) => root);
  return { mode, addedFolders, force: permissions.force, sandbox: sandbox.state, sandboxFault: findFault(sandbox) };
}

function toSourcedRules(
  flags: FlagValues,
  config: { readonly [effect in SourcedRule["effect"]]?: readonly string[] | undefined } = {},
  workspaceDenials: readonly string[],
): SourcedRule[] {
  return (["deny", "ask", "allow"] as const).flatMap((effect) => {
    const toRules = (source: SourcedRule["source"], rules: readonly string[] = []) =>
      rules.map((rule) => ({ effect, rule, source }));
    const denied = effect === "deny" ? toRules("workspace", workspaceDenials) : [];
    return [...toRules("flag", flags[effect]), ...toRules("config", config[effect]), ...denied];
  });
}

/** Flags of the checked case. */
export type CaseFlags = Pick<FlagValues, "command" | "path" | "access" | "url" | "mcp">;

/** Decides on the case in the flags. */
export async function checkCase(flags: CaseFlags, policy: PreparedPolicy): Promise<PermissionDecision> {
  const { command, path, access, url, mcp } = flags;
  const named = [command, path, url, mcp].filter((value) => value !== undefined);
  if (named.length !== 1 || (access !== undefined && path === undefined)) {
    throw new SheafError(
      "USAGE",
      "permissions check needs one case: add --command CMD, --path P --access read|write, --url U or --mcp SERVER:TOOL",
    );
  }
  if (path !== undefined) return checkPath(path, access, policy);
  if (command !== undefined) {
    return policy.permissions.decide({ tool: runTerminalCmdTool, arguments: { command } });
  }
  if (url !== undefined) {
    return policy.permissions.decide({ tool: webFetchTool, arguments: { url } });
  }
  const [server = "", tool = ""] = mcp!.split(/:(.*)/s);
  if (server === "" || tool === "") throw new SheafError("USAGE", `--mcp "${mcp}" names no tool: write SERVER:TOOL`);
  return policy.permissions.decide({ tool: { name: tool, access: "mcp" }, arguments: {}, mcp: { server, tool } });
}

/** Decides on a path as a file tool would: inside the workspace, unprotected, and by the rules for its real place. */
async function checkPath(
  path: string,
  access: string | undefined,
  policy: PreparedPolicy,
): Promise<PermissionDecision> {
  if (access !== "read" && access !== "write")
    throw new SheafError(
      "USAGE",
      `--path needs --access read or write${access === undefined ? "" : `, but got "${access}"`}`,
    );
  const named = { files: [path], folders: [] };
  const workspace = chooseWorkspace(named, policy.workspace, policy.addedWorkspaces);
  const resolved = workspace.resolve(path);
  if (!resolved.ok) return deny(resolved.error.message);
  const protection = access === "write" ? findProtection(workspace, resolved.path) : undefined;
  if (protection) return deny(protection.message);
  const tool = access === "read" ? readFileTool : writeFileTool;
  const decisions = await Promise.all(
    listSpellings(named, workspace).map((paths) => policy.permissions.decide({ tool, arguments: {}, paths })),
  );
  const find = (name: string) => decisions.find(({ decision }) => decision === name);
  return find("deny") ?? find("ask") ?? decisions[0]!;
}

function formatPolicy({ mode, trusted, sandbox, classes, rules }: ExplainedPolicy): string {
  const width = Math.max(...classes.map((row) => row.class.length));
  const rows = classes.map(
    (row) => `${row.class.padEnd(width)}  ${row.decision.padEnd(5)}  ${toVisibleLine(row.reason)}\n`,
  );
  const listed = rules.map(
    ({ effect, rule, source }) => `  ${effect.padEnd(5)}  ${toVisibleLine(rule)}  (${source})\n`,
  );
  const head = `mode ${mode}, sandbox ${sandbox}, workspace ${trusted ? "trusted" : "not trusted"}\n\n`;
  return `${head}${rows.join("")}\nRules${listed.length === 0 ? ": none" : ", deny wins, then ask"}\n${listed.join("")}`;
}
