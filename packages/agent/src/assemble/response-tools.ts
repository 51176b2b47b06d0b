/** The tools of a response: Sheaf's own tools and the tools of programs, skills, servers and subagents. */
import { createSearchProgram } from "@sheaf/sandbox/launch/search-program";
import { makeRunFolder } from "@sheaf/sandbox/hold/own-folders";
import { createKnownFacts } from "../run/prompts/environment-note.ts";
import type { EditorFiles } from "../tools/editor-files.ts";
import { type CallableTool, hasPageRule } from "../tools/registry.ts";
import { createToolBox, type ToolBoxPorts } from "../tools/tool-box.ts";
import type { ToolBox } from "../tools/tool.ts";
import { createKeptResults } from "../workspace/kept-results.ts";
import type { AgentToolPorts } from "./agent-tool.ts";
import { prepareNotes } from "./prepare-notes.ts";
import type { PreparedServers } from "./prepare-servers.ts";
import { createSystemPrompt, type ResponseBase } from "./response-base.ts";
import { createPageFetcher, type OpenedAgents } from "./wire.ts";

/** The parts that the tools of a response need in addition to its base. */
export interface ToolSources extends Pick<AgentToolPorts, "start" | "run"> {
  readonly servers: PreparedServers;
  /** Undefined: the model calls no subagents. */
  readonly agents: OpenedAgents | undefined;
  readonly editor: EditorFiles | undefined;
  readonly customTools: readonly CallableTool[];
  readonly isAttended: boolean;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}

export function createResponseTools(base: ResponseBase, sources: ToolSources): ToolBox {
  const { request, policy, commands } = base;
  const toolBox = toBoxPorts(base, sources);
  const agentTool = sources.agents?.createTool({
    mode: request.mode,
    limits: request.limits,
    start: sources.start,
    run: sources.run,
    stopsOnDenied: request.stopsOnDenied,
    toolBox,
    permissionsFor: policy.permissionsFor,
    toSystemPrompt: (instructions) => createSystemPrompt(base, sources.servers, instructions),
    describeEnvironment: (mode, signal) =>
      prepareNotes(
        {
          request: { ...request, mode },
          policy: { ...policy, permissions: policy.permissionsFor(mode) },
          commands,
          known: createKnownFacts(),
          isAttended: false,
          now: sources.now(),
        },
        signal,
      ),
  });
  if (!agentTool) return createToolBox(toolBox);
  return createToolBox({ ...toolBox, furtherTools: [...(toolBox.furtherTools ?? []), agentTool] });
}

function toBoxPorts(base: ResponseBase, { servers, editor, customTools, isAttended }: ToolSources): ToolBoxPorts {
  const { request, policy, commands, commandOptions, conversation, skills, addedFolders, dataFolder, undo } = base;
  const { workspace, addedWorkspaces, permissions } = policy;
  const { conversationId } = request;
  const rules = [...request.permissions.allow, ...conversation.state.answers.allow];
  const folders = [workspace.root, ...addedFolders];
  return {
    workspace,
    addedWorkspaces,
    commands,
    search: createSearchProgram(commandOptions),
    permissions,
    flagUser: request.flagUser,
    state: conversation.state,
    editor,
    web: createPageFetcher(request.environment),
    undo,
    results: createKeptResults(
      dataFolder === undefined
        ? { makeTemporary: () => makeRunFolder({ writable: folders }) }
        : { dataFolder, conversationId },
    ),
    afterEdit: request.afterEdit,
    mode: request.mode,
    offer: {
      choice: request.toolChoice,
      canFetchPages: isAttended || hasPageRule(rules),
    },
    furtherTools: [...customTools, ...skills.tools],
    openServerTools: servers.openTools,
  };
}
