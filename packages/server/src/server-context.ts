/** What the routes share. */
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

/** What Hono hands to the routes. */
export interface ServerEnvironment {
  Bindings: HttpBindings;
  /** `client`: who calls (S-116). `foreignOrigin`: of the page that sends the request, if it is an allowed one and not the server's own (X24). */
  Variables: { owner: string; foreignOrigin?: string; client: Client };
}

/** The way the operator set the server up. */
export interface ServerSettings extends Omit<RunSetup, "workspace" | "mode" | "trusted" | "userFiles"> {
  /** Roots by name, absolute, links resolved; the first one is the default. */
  readonly workspaces: ReadonlyMap<string, string>;
  /** Those of them that come from git. */
  readonly gitWorkspaces?: readonly GitWorkspace[] | undefined;
  readonly defaultMode: Mode;
  /** What becomes of a response whose server died; `resume`: another one that serves its workspace goes on with it. */
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
  /** Learns what responses were (C67). */
  readonly telemetry: Telemetry | undefined;
  readonly files: WorkspaceFiles;
  readonly commands: WorkspaceCommands;
  readonly trees: GitTrees;
  /** For the operator. */
  readonly log: Log;
  /** Called for errors that must not happen. */
  readonly onDefect: (error: unknown) => void;
  /** The store as an owner sees it: nothing of others can be reached through it (S-53). */
  readonly storeOf: (owner: string) => SharedStore;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}
