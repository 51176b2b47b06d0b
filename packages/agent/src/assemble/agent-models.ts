/** The models of subagents (C129, S-191). */
import type { Notice, TokenPrice } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { AgentKind } from "../run/agents/agent-kinds.ts";
import { isBuiltInModel, type ModelChoice, toProvider } from "../config/endpoints.ts";
import type { Model } from "@sheaf/models/provider";
import type { RunRequest } from "./run-request.ts";

/** A kind's own model. */
export interface AgentModel {
  readonly choice: ModelChoice;
  readonly price: TokenPrice | undefined;
  /** Tokens; undefined: not known. */
  readonly windowTokens: number | undefined;
}

/** Kinds as a run has them. */
export interface ChosenAgents {
  readonly kinds: ReadonlyMap<string, AgentKind>;
  /** Models by the name of the kind; the other kinds use the run's model. */
  readonly models: ReadonlyMap<string, AgentModel>;
  /** Notices for the user about the kinds. */
  readonly notices: readonly Notice[];
}

type ModelsRequest = Pick<RunRequest, "modelName" | "agentModels" | "limits">;

/**
 * A definition of the user may name any model that the user can use. If that fails, Sheaf leaves out the kind, because
 * no other model replaces its model. A definition of the workspace may name only models of the run's provider.
 */
export async function chooseAgents(
  found: ReadonlyMap<string, AgentKind>,
  asked: ModelsRequest,
  time: number,
): Promise<ChosenAgents> {
  const request = { ...asked, modelName: asked.modelName ?? asked.agentModels?.ofRun };
  const kinds = new Map(found);
  const models = new Map<string, AgentModel>();
  const foreign: string[] = [];
  const changes: string[] = [];
  for (const kind of found.values()) {
    if (kind.model === undefined) continue;
    const name = (await request.agentModels?.toName(kind.model)) ?? kind.model;
    if (name === request.modelName) continue;
    if (!name.includes("/") && !isBuiltInModel(name)) {
      foreign.push(`${kind.name} (${kind.model})`);
      continue;
    }
    const isOwn = kind.source !== "workspace";
    try {
      models.set(kind.name, await chooseModel(name, isOwn, request, time));
    } catch (error) {
      if (!(error instanceof SheafError)) throw error;
      if (isOwn) kinds.delete(kind.name);
      const outcome = isOwn ? "is left out" : "uses the model of the run";
      changes.push(`the subagent ${kind.name} ${outcome}: ${error.message}`);
    }
  }
  if (foreign.length > 0) {
    const advice = "modelAliases in your config.json can give such a name a model";
    changes.push(`subagents without a model of Sheaf use the model of the run: ${foreign.join(", ")}; ${advice}`);
  }
  const notices = changes.map((message): Notice => ({ code: "AGENT_CHANGED", message }));
  return { kinds, models, notices };
}

/** @throws SheafError with the reason why the model cannot be used. */
async function chooseModel(
  name: string,
  isOwn: boolean,
  { modelName = "", agentModels, limits }: ModelsRequest,
  time: number,
): Promise<AgentModel> {
  if (!isOwn && (!name.includes("/") || toProvider(name) !== toProvider(modelName))) {
    const message = `a workspace may choose only models of the run's own provider, unlike "${name}"`;
    throw new SheafError("CONFIG_INVALID", message);
  }
  if (!agentModels) throw new SheafError("CONFIG_INVALID", `this program gives the name "${name}" no model`);
  return { ...(await agentModels.choose(name)), price: await agentModels.findPrice(name, limits.maxCostUsd, time) };
}

/** The model, with its name and price in each of its turns, because it is not the run's model. */
export function toNamedModel(model: Model, price: TokenPrice | undefined): Model {
  const answering = { id: model.id, name: model.name, ...(price && { price }) };
  return {
    ...model,
    async *stream(request, signal) {
      for await (const group of model.stream(request, signal)) {
        yield group.map((event) => (event.type === "turn_end" ? { ...event, model: answering } : event));
      }
    },
  };
}
