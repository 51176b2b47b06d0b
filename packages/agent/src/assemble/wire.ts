/** The composition root: only the four files wire*.ts name concrete parts. Each part loads with its first use. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@sheaf/base/paths";
import { createKnownMask } from "../config/known-secrets.ts";
import { hookFiles } from "../config/hook-settings.ts";
import { readTrusted } from "../config/trust.ts";
import { chooseProxy, findProxy } from "../config/proxy.ts";
import type { FindRegistryHosts } from "@sheaf/base/command-network";
import type { Surroundings } from "@sheaf/sandbox/find/registries";
import type { PageFetcher } from "../network/fetch-page.ts";
import type { HookRequest, OpenedHooks } from "./open-hooks.ts";
import type { AnswerCheck } from "../run/final-answer.ts";
import { createMessageProjection, type ProjectionOptions } from "../output/create-message-projection.ts";
import type { OutputFormat, Projection } from "../output/projection.ts";
import type { AgentPlaces } from "../run/agents/agent-kinds.ts";
import { agentTraits } from "../tools/other-tools.ts";
import type { CallableTool } from "../tools/registry.ts";
import type { AgentToolPorts } from "./agent-tool.ts";
import type { RunRequest } from "./run-request.ts";
import type { Telemetry } from "./telemetry.ts";
import { createModel } from "./wire-models.ts";

/** Milliseconds since 1970, by a clock that a change of the system's time does not move. */
export const now = (): number => Math.round(performance.timeOrigin + performance.now());

/** The hooks of a run; loads their code if needed. @throws SheafError CONFIG_INVALID for a file that cannot be read. */
export async function openHooks(request: HookRequest): Promise<OpenedHooks> {
  const { sources, trustedWorkspace } = request;
  const isThere = (file: string): boolean => existsSync(join(trustedWorkspace!.workspace, file));
  const mayHave = trustedWorkspace && (hookFiles.some(isThere) || readTrusted("hooks", trustedWorkspace).size > 0);
  if (!sources && !mayHave) return { hooks: undefined, notices: [] };
  return (await import("./open-hooks.ts")).openHooks(request);
}

export type OpenedAgents = NonNullable<Awaited<ReturnType<typeof openAgents>>>;

/** The subagents of a run, if the user wants them; their code loads only then (C96). */
export async function openAgents({
  hasAgents = false,
  toolChoice,
  ...request
}: AgentPlaces & Pick<RunRequest, "hasAgents" | "toolChoice" | "modelName" | "agentModels" | "limits">) {
  if (!hasAgents && !toolChoice?.only?.includes(agentTraits.name)) return undefined;
  const [{ createAgentTool }, { findAgentKinds }, { chooseAgents }] = await Promise.all([
    import("./agent-tool.ts"),
    import("../run/agents/agent-kinds.ts"),
    import("./agent-models.ts"),
  ]);
  const { notices, ...chosen } = await chooseAgents(findAgentKinds(request), request, now());
  return {
    notices,
    createTool: (ports: Omit<AgentToolPorts, "kinds" | "models" | "openModel">): CallableTool =>
      createAgentTool({ ...ports, ...chosen, openModel: ({ choice }) => createModel(choice) }),
  };
}

/** A collector of facts about runs; undefined if the environment has no address of one. */
export async function openTelemetry(
  environment: Environment,
  { hasParent }: { readonly hasParent: boolean },
): Promise<Telemetry | undefined> {
  if (!hasTelemetry(environment)) return undefined;
  const { findTelemetrySettings } = await import("../config/telemetry-settings.ts");
  const settings = findTelemetrySettings(hasParent ? environment : { ...environment, TRACEPARENT: undefined });
  if (!settings) return undefined;
  const { createTelemetry } = await import("./telemetry.ts");
  return createTelemetry(settings, { fetch, now, instanceId: randomUUID(), mask: createKnownMask(environment) });
}

/** True if the environment has the address of a collector. */
function hasTelemetry(environment: Environment): boolean {
  return ["", "TRACES_", "METRICS_"].some((signal) => environment[`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`]);
}

/** Fetches pages by the user's proxies. Its code loads with the first page. */
export function createPageFetcher(environment: Environment): PageFetcher {
  let loading: Promise<PageFetcher> | undefined;
  return {
    async fetchPage(url, signal) {
      loading ??= import("../network/fetch-page.ts").then((module) =>
        module.createPageFetcher({ findProxy: (page) => chooseProxy(findProxy(environment), page) }),
      );
      return (await loading).fetchPage(url, signal);
    },
  };
}

/** Finds the hosts of registries. Its code loads when a command connects to a host that only their rules may allow. */
export function createRegistryFinder(surroundings: Surroundings): FindRegistryHosts {
  let loading: Promise<FindRegistryHosts> | undefined;
  return async (name, isDenial) => {
    loading ??= import("@sheaf/sandbox/find/registries").then((module) => module.createRegistryFinder(surroundings));
    return (await loading)(name, isDenial);
  };
}

/** The check of a final answer against a schema file; undefined without one. @throws SheafError CONFIG_INVALID. */
export async function createAnswerCheck(
  file: string | undefined,
  folder: string,
  signal: AbortSignal,
  onClose: (close: () => void) => void,
): Promise<AnswerCheck | undefined> {
  if (file === undefined) return undefined;
  return (await import("../run/answer-schema.ts")).createAnswerCheck(file, folder, signal, onClose);
}

export async function openProjection(format: OutputFormat, options: ProjectionOptions): Promise<Projection> {
  if (format !== "documents" && format !== "documents-stream") return createMessageProjection(format, options);
  return (await import("../output/create-projection.ts")).createProjection(format, options);
}
