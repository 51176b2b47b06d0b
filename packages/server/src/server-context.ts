/** The settings and the parts that all routes share. */
import type { Client } from "./client-of.ts";
import type { HttpBindings } from "@hono/node-server";
import type { Mode } from "@sheaf/protocol";
import type { RunSetup } from "@sheaf/agent/assemble/run-request";
import type { GitWorkspace } from "@sheaf/agent/config/git-workspaces";
import type { Telemetry } from "@sheaf/agent/assemble/telemetry";
import type { Preparer } from "@sheaf/agent/assemble/preparer";
import type { Live, ResponseRunner } from "@sheaf/agent/run/conversations/response-runner";
import type { SharedStore } from "@sheaf/store/store";
import type { ConversationFeeds } from "./conversation-feed.ts";
import type { OwnerMeter } from "./limits.ts";
import type { Log, Metrics } from "./metrics.ts";
import type { PendingApprovals } from "./pending-approvals.ts";
import type { TakeStartTurn } from "./start-turns.ts";
import type { RequestKeys } from "./request-keys.ts";
import type { ResponseChannel, WireOptions } from "./response-channel.ts";
import type { Heartbeat } from "./event-sink.ts";
import type { SharedTails } from "./shared-tails.ts";
import type { ServerModels } from "./server-models.ts";
import type { GitTrees } from "./git-trees.ts";
import type { WorkspaceCommands } from "./workspace-commands.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** Bindings and variables that Hono passes to the routes. */
export interface ServerEnvironment {
  Bindings: HttpBindings;
  /** `client` sent the request (S-116). `foreignOrigin` is the allowed origin of another page that sent it (X24). */
  Variables: { owner: string; foreignOrigin?: string; client: Client };
}

/** Settings of the operator. */
export interface ServerSettings extends Omit<RunSetup, "workspace" | "mode" | "trusted" | "userFiles"> {
  /** Roots by name, absolute, links resolved; the first one is the default. */
  readonly workspaces: ReadonlyMap<string, string>;
  /** The workspaces that are clones of git repositories. */
  readonly gitWorkspaces?: readonly GitWorkspace[] | undefined;
  readonly defaultMode: Mode;
  /** The fate of a response whose server died. `resume`: another server of its workspace continues it. */
  readonly onNodeLoss: "end" | "resume";
  readonly timeoutMs: number | undefined;
  /** True if a workspace is trusted (S-03). @throws SheafError CONFIG_INVALID. */
  readonly isTrusted: (workspace: string) => boolean;
  readonly wire: WireOptions;
}

export interface ServerContext {
  readonly settings: ServerSettings;
  readonly models: ServerModels;
  readonly runner: ResponseRunner;
  readonly live: Live<ResponseChannel>;
  readonly tails: SharedTails;
  readonly feeds: ConversationFeeds;
  readonly heartbeat: Heartbeat;
  readonly approvals: PendingApprovals;
  readonly requestKeys: RequestKeys;
  readonly meter: OwnerMeter;
  readonly metrics: Metrics;
  readonly takeStartTurn: TakeStartTurn;
  readonly preparer: Preparer;
  /** Records telemetry of responses (C67). */
  readonly telemetry: Telemetry | undefined;
  readonly files: WorkspaceFiles;
  readonly commands: WorkspaceCommands;
  readonly trees: GitTrees;
  /** The log for the operator. */
  readonly log: Log;
  /** Called for errors that must not happen. */
  readonly onDefect: (error: unknown) => void;
  /** Returns the store of one owner, which can't reach the conversations of other owners (S-53). */
  readonly storeOf: (owner: string) => SharedStore;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}
