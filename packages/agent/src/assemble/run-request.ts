/** What every door asks for: one response, completely described. The command line, editors, the server and programs make the same request. */
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
  /** What they match needs a person (C64). */
  readonly ask?: readonly string[] | undefined;
  /** The same, unless a rule allows it (C201). */
  readonly askUnlessAllowed?: readonly string[] | undefined;
  readonly deny: readonly string[];
}

/** The way a door sets up its runs. */
export interface RunSetup
  extends ServerPlaces, Pick<Config, "mode" | "stopsOnDenied">, Partial<Pick<Config, "effort" | "hooks" | "strict">> {
  /** The model is asked for summaries of its thinking (C12). */
  readonly includesReasoning?: boolean | undefined;
  /** The provider may search the web for the model; `if_possible`: where it can (C48). */
  readonly webSearch?: boolean | "if_possible" | undefined;
  /** True if commands are held by the system's sandbox (S-30). */
  readonly sandbox: SandboxSetting;
  readonly limits: BudgetLimits;
  readonly permissions: PermissionSettings;
  /** Every tool of the user's own servers runs without asking (`--approve-mcps`). */
  readonly approvesServers?: boolean | undefined;
  /** The user's commands after an edit (S-96). */
  readonly afterEdit?: readonly AfterEditCommand[] | undefined;
  /** Hooks of a trusted workspace run, if they have a yes of their own (S-141). Default: none does. */
  readonly runsWorkspaceHooks?: boolean | undefined;
  /** The data folder is read, and nothing is written to it (`--no-save`). */
  readonly isUnsaved?: boolean | undefined;
  /** Further places that commands do not see. Absolute (S-241). */
  readonly hiddenPlaces?: readonly string[] | undefined;
  /** The place where the user's own AGENTS.md, skills and commands are; undefined: they are not read. */
  readonly userFiles: Pick<UserFiles, "instructions" | "skillFolders"> | undefined;
  /** In place of Sheaf's own instructions (C46). */
  readonly basePrompt?: string | undefined;
  /** Which tools the run has; default: all (C46). */
  readonly toolChoice?: ToolChoice | undefined;
  /** The model may call subagents (C96). Default: only if `toolChoice` names them. */
  readonly hasAgents?: boolean | undefined;
  /** Models that definitions of subagents may name (C129); undefined: none. */
  readonly agentModels?: AgentModels | undefined;
  /** Of a program: the end of the system prompt. */
  readonly systemPrompt?: string | undefined;
}

/** A command that prepares a new working tree (S-127). */
export interface TreeSetup {
  readonly command: string;
  readonly timeoutMs: number;
}

/** One response that is asked for. */
export interface RunRequest extends RunSetup {
  /** Time that the run waits for background commands when the model is done (C169). Milliseconds; default 0. */
  readonly backgroundWaitMs?: number | undefined;
  /** What of the prompt may name a command (C91); undefined: all of it. */
  readonly typed?: string | undefined;
  /** Others keep the states of its files, so that it can be undone. */
  readonly hasStates?: boolean | undefined;
  /** Runs in the sandbox before the response begins. */
  readonly setup?: TreeSetup | undefined;
  /** Flags that restrict this response and the later ones of its conversation; undefined: as before (C69). */
  readonly restrictions?: Restrictions | undefined;
  /** Whose caches commands use (S-97); undefined: those of the workspace. */
  readonly cacheOwner?: string | undefined;
  /** `chat_<uuid>`. */
  readonly responseId: string;
  /** `conv_<uuid>`. */
  readonly conversationId: string;
  readonly message: Pick<
    RunStart,
    "prompt" | "shortens" | "attachments" | "answers" | "stdin" | "notices" | "hasSchema" | "labels"
  >;
  /** As the log names it. */
  readonly model: Pick<Model, "id" | "name" | "apiKeySource">;
  /** As the caller named it; undefined: no name leads to it. */
  readonly modelName?: string | undefined;
  /** What the model costs; undefined: not known. */
  readonly price?: TokenPrice | undefined;
  /** What the model takes in one request; undefined: not known. Tokens. */
  readonly windowTokens?: number | undefined;
}

/** The first event of the log, but for what is found out while the run is prepared. */
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
