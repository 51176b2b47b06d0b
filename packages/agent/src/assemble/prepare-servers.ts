/** The tool servers of a response (C51), and the server's prompt that its message names (C111). */
import type { RunStart } from "@sheaf/protocol";
import type { ServerChoice } from "../config/workspace-servers.ts";
import { isOffered } from "../guard/permissions/permissions.ts";
import type { ToolBoxPorts } from "../tools/tool-box.ts";
import { prepareServerPrompt } from "./prepare-server-prompt.ts";
import type { ResponseBase } from "./response-base.ts";
import type { PermissionSettings, RunRequest } from "./run-request.ts";
import { chooseServers, type ToolServers } from "./wire-servers.ts";

/** What tool servers add to a response. */
export interface PreparedServers {
  readonly start: Pick<RunStart, "mcpServers" | "commandNote" | "attachments">;
  readonly openTools: ToolBoxPorts["openServerTools"];
  /** Undefined: the response has none. */
  readonly close: (() => Promise<void>) | undefined;
}

/** The servers that the request has; none in a mode that may call no tool of a server, so that none starts (S-88). */
export async function choosePossibleServers(request: RunRequest): Promise<ServerChoice> {
  return mayCallServers(request) ? chooseServers(request) : { servers: {}, leftOut: [], own: new Set() };
}

/** `--force` is for the tools of all servers, `--approve-mcps` for those of the user's own; deny rules win as ever. */
export function allowServers(
  { permissions, approvesServers }: RunRequest,
  { servers, own }: ServerChoice,
): PermissionSettings {
  if (!permissions.force && !approvesServers) return permissions;
  const names = permissions.force ? Object.keys(servers) : [...own];
  return { ...permissions, allow: [...permissions.allow, ...names.map((name) => `Mcp(${name}:*)`)] };
}

/** Starts them. `fillsPrompt`: the message may name one of their prompts. Nothing that may fail comes after it. */
export async function prepareServers(
  { request, policy, model, addedFolders, conversation }: ResponseBase,
  { servers, leftOut }: ServerChoice,
  toolServers: ToolServers,
  fillsPrompt: boolean,
  signal: AbortSignal,
): Promise<PreparedServers> {
  const folders = { workspace: policy.workspace.root, addedFolders };
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
