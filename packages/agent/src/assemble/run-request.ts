/** A door's request for one response, completely described. The command line, editors, server and programs share it. */
import { toWellFormed } from "@sheaf/documents/text";
import type { RunStart, TokenPrice } from "@sheaf/protocol";
import type { UserFiles } from "@sheaf/base/paths";
import { sheafVersion } from "@sheaf/base/version";
import type { AgentModels } from "../config/endpoints.ts";
import type { Config } from "../config/config.ts";
import type { ServerPlaces } from "../config/workspace-servers.ts";
import type { SandboxSetting } from "@sheaf/sandbox/sandbox";
import type { Model } from "@sheaf/models/provider";
import type { Restrictions } from "@sheaf/store/store";
import type { ToolChoice } from "../tools/registry.ts";
import type { BudgetLimits } from "../run/budget.ts";
import type { AfterEditCommand } from "../tools/after-edit.ts";

/** Rules of flags, configuration or a program; a workspace can only add denials (S-06). */
export interface PermissionSettings {
  /** Every command, and every tool of an MCP server, runs without asking; deny rules win. It opens no web page. */
  readonly force: boolean;
  readonly allow: readonly string[];
  /** Rules whose calls need a person (C64). */
  readonly ask?: readonly string[] | undefined;
  /** Rules whose calls need a person, unless another rule allows them (C201). */
  readonly askUnlessAllowed?: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** The way a door sets up its runs. */
export interface RunSetup
  extends ServerPlaces, Pick<Config, "mode" | "stopsOnDenied">, Partial<Pick<Config, "effort" | "hooks" | "strict">> {
  /** The run asks the model for summaries of its thinking (C12). */
  readonly includesReasoning?: boolean | undefined;
  /** The provider may search the web for the model; `if_possible`: where it can (C48). */
  readonly webSearch?: boolean | "if_possible" | undefined;
  /** The sandbox of commands: the system's, a container around Sheaf, or none (S-30). */
  readonly sandbox: SandboxSetting;
  readonly limits: BudgetLimits;
  readonly permissions: PermissionSettings;
  /** Replaces "the user passes" before the flags that would allow a refused call, for callers without flags (S-11). */
  readonly flagUser?: string | undefined;
  /** Every tool of the user's own servers runs without asking (`--approve-mcps`). */
  readonly approvesServers?: boolean | undefined;
  /** The user's commands after an edit (S-96). */
  readonly afterEdit?: readonly AfterEditCommand[] | undefined;
  /** Approved hooks of a trusted workspace run (S-141). Default: no hooks of a workspace do. */
  readonly runsWorkspaceHooks?: boolean | undefined;
  /** The run reads the data folder, but writes no file to it (`--no-save`). */
  readonly isUnsaved?: boolean | undefined;
  /** Further places that commands do not see. Absolute (S-241). */
  readonly hiddenPlaces?: readonly string[] | undefined;
  /** The place where the user's own AGENTS.md, skills and commands are; undefined: they are not read. */
  readonly userFiles: Pick<UserFiles, "instructions" | "skillFolders"> | undefined;
  /** Replaces Sheaf's own instructions (C46). */
  readonly basePrompt?: string | undefined;
  /** The tools of the run; default: all (C46). */
  readonly toolChoice?: ToolChoice | undefined;
  /** The model may call subagents (C96). Default: only if `toolChoice` includes their tool. */
  readonly hasAgents?: boolean | undefined;
  /** Models that definitions of subagents may name (C129); undefined: none. */
  readonly agentModels?: AgentModels | undefined;
  /** A program's text for the end of the system prompt. */
  readonly systemPrompt?: string | undefined;
}

/** A command that prepares a new working tree (S-127). */
export interface TreeSetup {
  readonly command: string;
  readonly timeoutMs: number;
}

/** The request for one response. */
export interface RunRequest extends RunSetup {
  /** Time that the run waits for background commands when the model is done (C169). Milliseconds; default 0. */
  readonly backgroundWaitMs?: number | undefined;
  /** The part of the prompt that may name a command (C91); undefined: all of it. */
  readonly typed?: string | undefined;
  /** Others keep the states of its files, so that it can be undone. */
  readonly hasStates?: boolean | undefined;
  /** Runs in the sandbox before the response starts. */
  readonly setup?: TreeSetup | undefined;
  /** Flags that restrict this response and the later ones of its conversation; undefined: as before (C69). */
  readonly restrictions?: Restrictions | undefined;
  /** Owner of the caches that commands use (S-97); undefined: the workspace. */
  readonly cacheOwner?: string | undefined;
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  readonly message: Pick<
    RunStart,
    "prompt" | "shortens" | "attachments" | "answers" | "stdin" | "notices" | "hasSchema" | "labels"
  >;
  /** The model as the log shows it. */
  readonly model: Pick<Model, "id" | "name" | "apiKeySource">;
  /** The caller's name for the model; undefined: it has no name. */
  readonly modelName?: string | undefined;
  /** The model's price; undefined: not known. */
  readonly price?: TokenPrice | undefined;
  /** The model's window; undefined: not known. Tokens. */
  readonly windowTokens?: number | undefined;
}

/** The first event of the log, without the facts that Sheaf finds while it prepares the run. */
export function toRunStart(request: RunRequest): Omit<RunStart, "type" | "sandbox"> {
  const { responseId, conversationId, model, mode, effort, includesReasoning = false, webSearch, strict } = request;
  const { workspace, trusted, price, windowTokens } = request;
  return toWellFormed({
    responseId,
    conversationId,
    mode,
    ...(effort !== undefined && { effort }),
    ...(includesReasoning && { includesReasoning }),
    ...(webSearch === true && { webSearch }),
    model: model.id,
    modelName: model.name,
    apiKeySource: model.apiKeySource,
    workspace,
    permissionMode: mode === "plan" || mode === "ask" ? mode : request.permissions.force ? "force" : "default",
    trusted,
    sheafVersion,
    ...(strict && { strict }),
    ...(price && { price }),
    ...(windowTokens !== undefined && { context: { windowTokens, usedTokens: 0 } }),
    ...request.message,
  });
}
