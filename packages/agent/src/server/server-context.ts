/** What the routes share. */
import type { McpServers } from "../config/mcp-server-settings.ts";
import type { HttpBindings } from "@hono/node-server";
import type { RunStart } from "@sheaf/protocol";
import type { ResponseRunner } from "../run/conversations/response-runner.ts";
import type { Live } from "../run/live.ts";
import type { Environment } from "../base/paths.ts";
import type { BudgetLimits } from "../run/budget.ts";
import type { SharedStore } from "../store/store.ts";
import type { OwnerMeter } from "./limits.ts";
import type { Metrics } from "./metrics.ts";
import type { PendingApprovals } from "./pending-approvals.ts";
import type { QueuedResponses } from "./queued-responses.ts";
import type { RequestKeys } from "./request-keys.ts";
import type { ResponseChannel, WireOptions } from "./response-channel.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { ServerModels } from "./server-models.ts";
import type { TakeStartTurn } from "./start-turns.ts";

/** What Hono hands to the routes. */
export interface ServerEnvironment {
  Bindings: HttpBindings;
  Variables: { owner: string };
}

/** How the operator set the server up. */
export interface ServerSettings {
  /** Roots by name, absolute, links resolved; the first one is the default. */
  readonly workspaces: ReadonlyMap<string, string>;
  readonly defaultMode: RunStart["mode"];
  /** Of each response; a request can only lower them. */
  readonly limits: BudgetLimits;
  readonly timeoutMs: number | undefined;
  readonly permissions: {
    readonly force: boolean;
    readonly allow: readonly string[];
    readonly deny: readonly string[];
  };
  /** Whether commands are held by the system's sandbox (S-30). */
  readonly sandbox: "enabled" | "disabled";
  readonly stopsOnDenied: boolean;
  /** Of `--add-dir`: absolute, as the operator named them; they stand beside every workspace. */
  readonly addedFolders: readonly string[];
  /** The user's servers of the Model Context Protocol. */
  readonly mcpServers: McpServers;
  /** Whether a workspace is trusted (S-03). @throws SheafError CONFIG_INVALID. */
  readonly isTrusted: (workspace: string) => boolean;
  /** Sheaf's data folder. */
  readonly dataFolder: string | undefined;
  readonly environment: Environment;
  readonly wire: WireOptions;
}

export interface ServerContext {
  readonly settings: ServerSettings;
  readonly models: ServerModels;
  readonly runner: ResponseRunner;
  readonly live: Live<ResponseChannel>;
  readonly heartbeat: Heartbeat;
  readonly approvals: PendingApprovals;
  readonly requestKeys: RequestKeys;
  readonly meter: OwnerMeter;
  readonly metrics: Metrics;
  readonly takeStartTurn: TakeStartTurn;
  readonly queued: QueuedResponses;
  /** Told of errors that must not happen. */
  readonly onDefect: (error: unknown) => void;
  /** The store as an owner sees it: nothing of others can be reached through it (S-53). */
  readonly storeOf: (owner: string) => SharedStore;
  /** Milliseconds since 1970; never falling. */
  readonly now: () => number;
}
