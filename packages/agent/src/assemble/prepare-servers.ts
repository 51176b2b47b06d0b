/** The tool servers of a response (C51), and the server's prompt that its message names (C111). */
import type { RunStart } from "@sheaf/protocol";
import type { ServerChoice } from "../config/workspace-servers.ts";
import { isOffered, type Permissions } from "@sheaf/permissions/permissions";
import type { ToolBoxPorts } from "../tools/tool-box.ts";
import { SheafError } from "@sheaf/base/errors";
import { parseTypedCommand } from "../config/skills.ts";
import { checkAttachmentTypes } from "@sheaf/models/attachments";
import type { Model } from "@sheaf/models/provider";
import type { OfferedTools } from "../tools/mcp/offer-tools.ts";
import type { ServerPrompts } from "../tools/mcp/server-prompts.ts";
import { findExcess } from "@sheaf/base/files/attachment";
import type { ResponseBase } from "./response-base.ts";
import type { PermissionSettings, RunRequest } from "./run-request.ts";
import { chooseServers, type ToolServers } from "./wire-servers.ts";

/** The parts that tool servers add to a response. */
export interface PreparedServers {
  readonly start: Pick<RunStart, "mcpServers" | "commandNote" | "attachments">;
  readonly openTools: ToolBoxPorts["openServerTools"];
  readonly instructions: OfferedTools["instructions"];
  /** Undefined if the response has no servers. */
  readonly close: (() => Promise<void>) | undefined;
}

/** The servers that the request has; none in a mode that may call no tool of a server, so that none starts (S-88). */
export async function choosePossibleServers(request: RunRequest): Promise<ServerChoice> {
  return mayCallServers(request) ? chooseServers(request) : { servers: {}, leftOut: [], own: new Set() };
}

/** `--force` allows the tools of all servers, `--approve-mcps` the tools of the user's own; deny rules still win. */
export function allowServers(
  { permissions, approvesServers }: RunRequest,
  { servers, own }: ServerChoice,
): PermissionSettings {
  if (!permissions.force && !approvesServers) return permissions;
  const names = permissions.force ? Object.keys(servers) : [...own];
  return { ...permissions, allow: [...permissions.allow, ...names.map((name) => `Mcp(${name}:*)`)] };
}

/** Starts the servers. `fillsPrompt`: the message may name one of their prompts. No later step may fail. */
export async function prepareServers(
  { request, policy, model, addedFolders, conversation, commandOptions }: ResponseBase,
  { servers, leftOut }: ServerChoice,
  toolServers: ToolServers,
  fillsPrompt: boolean,
  signal: AbortSignal,
): Promise<PreparedServers> {
  const held = { commandOptions, rules: [policy.sandbox, request.permissions, policy.workspaceDenials] };
  const folders = { workspace: policy.workspace.root, addedFolders, held };
  const lease = { conversationId: request.conversationId, servers };
  const mcp = mayCallServers(request) ? await toolServers.lease(lease, folders, signal) : undefined;
  const mcpServers = [...(mcp?.servers ?? []), ...leftOut];
  try {
    const { permissions } = policy;
    const prompt = fillsPrompt
      ? await prepareServerPrompt(request, { prompts: mcp?.prompts, permissions, model }, signal)
      : {};
    return {
      start: { ...(mcpServers.length > 0 && { mcpServers }), ...prompt },
      openTools: mcp && ((choice) => mcp.openTools({ choice, messages: conversation.messages })),
      instructions: mcp?.instructions ?? [],
      close: mcp && (() => mcp.release()),
    };
  } catch (error) {
    await mcp?.release();
    throw error;
  }
}

function mayCallServers({ mode }: RunRequest): boolean {
  return isOffered(mode, { access: "mcp" });
}

interface PromptPorts {
  /** Undefined: the response has no servers. */
  readonly prompts: ServerPrompts | undefined;
  readonly permissions: Permissions;
  readonly model: Model;
}

/** Empty without such a prompt in the message. @throws SheafError USAGE if it does not exist, or cannot be sent. */
async function prepareServerPrompt(
  { message, mode, typed = message.prompt }: RunRequest,
  { prompts, permissions, model }: PromptPorts,
  signal: AbortSignal,
): Promise<Pick<RunStart, "commandNote" | "attachments">> {
  const command = typed.trimStart().startsWith("/mcp__") ? parseTypedCommand(typed) : undefined;
  if (!command) return {};
  if (!prompts) {
    const advice = mode === "ask" || mode === "plan" ? `Sheaf starts no servers in ${mode} mode` : "see sheaf mcp list";
    throw new SheafError("USAGE", `/${command.name} needs its tool server, which this run doesn't use: ${advice}`);
  }
  const prompt = await prompts.find(command.name, signal);
  const request = { tool: { name: command.name, access: "mcp" }, arguments: {} } as const;
  const mcp = { server: prompt.server, tool: "prompts/get" };
  const decided = await permissions.decide({ ...request, mcp });
  if (decided.decision === "deny") {
    throw new SheafError("USAGE", `the rule ${decided.rule} denies /${command.name}: send another message`);
  }
  const { note, attachments } = await prompts.fill(prompt, command.arguments, signal);
  if (attachments.length === 0) return { commandNote: note };
  checkAttachmentTypes(attachments, model);
  const all = [...(message.attachments ?? []), ...attachments];
  const excess = findExcess(all);
  if (excess !== undefined) throw new SheafError("USAGE", excess);
  return { commandNote: note, attachments: all };
}
