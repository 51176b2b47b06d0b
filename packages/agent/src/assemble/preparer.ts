/** Prepares the responses of a server's workspaces: in its own process, or apart from it. */
import type { Environment } from "@sheaf/base/paths";
import type { PreparedRun } from "../run/conversations/response-runner.ts";
import { prepareResponse, type ResponsePorts } from "./prepare-response.ts";
import type { RunRequest } from "./run-request.ts";
import { createToolServers, type ToolServers } from "./wire-servers.ts";

export interface Preparer extends Pick<ToolServers, "end" | "close"> {
  /** Calls `prepareResponse`, with tool servers that stay for the next response. `place`: the folder of the server. */
  prepare(request: RunRequest, given: ResponsePorts, place: string, signal: AbortSignal): Promise<PreparedRun>;
  /** Waits for the disk of the folder, before this process reads there. @throws SheafError INTERRUPTED. */
  look(place: string): Promise<void>;
}

/** Limits of the tool servers that stay between two responses: each is a program or more, so some stay for a while. */
const keptServers = { maxResting: 8, restMs: 10 * 60 * 1000 };

/** A preparer that works in this process. */
export function createPreparer(environment: Environment): Preparer {
  const toolServers = createToolServers(environment, keptServers, "conversations");
  return {
    prepare: (request, given, _place, signal) => prepareResponse(request, { ...given, toolServers }, signal),
    look: async () => undefined,
    end: toolServers.end,
    close: toolServers.close,
  };
}
