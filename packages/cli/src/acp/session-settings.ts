/** What a person chooses for a session in an editor: mode, model and effort (C54). */
import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionModeState,
} from "@agentclientprotocol/sdk/unstable";
import { SheafError, toSheafError } from "@sheaf/base/errors";
import { efforts } from "@sheaf/agent/config/user-config";
import type { ConversationSettings } from "@sheaf/store/store";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { toConfig, type RunConfig } from "../run-config.ts";
import { findProviderFlag, switchModel } from "../switch-model.ts";

const modeTexts = {
  agent: ["Agent", "reads, writes and runs commands"],
  plan: ["Plan", "reads and plans, changes nothing"],
  ask: ["Ask", "reads and answers, changes nothing"],
  debug: ["Debug", "finds the cause of a fault by experiments"],
} as const;

const modes = Object.entries(modeTexts).map(([id, [name, description]]) => ({ id, name, description }));

/** Value of an option that leaves the choice open. */
const open = "default";

/** For editors that know modes, but no options. */
export function toModes({ mode }: RunConfig): SessionModeState {
  return { currentModeId: mode, availableModes: modes };
}

/** For editors that know a choice of models, but no options. */
export function toModelState({ model = open }: RunConfig, models: readonly string[]) {
  const availableModels = [...new Set([model, ...models])].map((name) => ({ modelId: name, name }));
  return { currentModelId: model, availableModels };
}

/** `models`: names that may be chosen, besides the current one. */
export function toConfigOptions({ mode, model, effort }: RunConfig, models: readonly string[]): SessionConfigOption[] {
  const names = [...new Set([model ?? open, ...models])];
  return [
    toSelect(
      "mode",
      mode,
      modes.map(({ id, ...texts }) => ({ value: id, ...texts })),
    ),
    toSelect(
      "model",
      model ?? open,
      names.map((name) => ({ value: name, name: name === open ? "No model is chosen" : name })),
    ),
    toSelect(
      "effort",
      effort ?? open,
      [open, ...efforts].map((value) => ({ value, name: value === open ? "As the provider decides" : value })),
    ),
  ];
}

const optionTexts = {
  mode: { name: "Mode", description: "What the agent may do", category: "mode" },
  model: { name: "Model", description: "Which model answers", category: "model" },
  effort: { name: "Effort", description: "How much the model thinks", category: "thought_level" },
} as const;

function toSelect(
  id: keyof typeof optionTexts,
  currentValue: string,
  options: SessionConfigSelectOption[],
): SessionConfigOption {
  return { type: "select", id, ...optionTexts[id], currentValue, options };
}

/** The flags of a session after a choice. @throws SheafError USAGE for an unknown option or value, as for its flag. */
export function chooseOption(flags: FlagValues, id: string, value: string | boolean, io: CommandIo): FlagValues {
  const changed = toChanged(flags, id, String(value), io);
  toConfig(changed, io);
  return changed;
}

function toChanged(flags: FlagValues, id: string, value: string, io: CommandIo): FlagValues {
  switch (id) {
    case "mode": {
      const { plan: _, ...rest } = flags;
      return { ...rest, mode: value };
    }
    case "model":
      return value === open ? flags : switchModel(flags, value, io);
    case "effort": {
      const { effort: _, ...rest } = flags;
      return value === open ? rest : { ...rest, effort: value };
    }
    default:
      throw new SheafError("USAGE", `the option "${id}" is unknown: use ${Object.keys(optionTexts).join(", ")}`);
  }
}

/**
 * The flags of a stored session: its model and effort, and its mode unless the command line says one. A model that can no
 * longer be used gives way to that of the settings.
 */
export function restoreChoices(flags: FlagValues, stored: ConversationSettings, io: CommandIo): FlagValues {
  const { mode, effort, model } = stored;
  const isModeNamed = flags.mode !== undefined || flags.plan;
  const restored = { ...flags, ...(!isModeNamed && mode && { mode }), ...(effort && { effort }) };
  // Nobody said for which provider such a flag is.
  const isUnclear = toConfig(flags, io).model === undefined && findProviderFlag(flags) !== undefined;
  if (model === undefined || isUnclear) return restored;
  try {
    return switchModel(restored, model, io);
  } catch (error) {
    if (toSheafError(error).code === "INTERNAL") throw error;
    return restored;
  }
}

/** What the session goes on with, as it is stored. */
export function toChoices(flags: FlagValues, io: CommandIo): ConversationSettings {
  const { mode, model, effort } = toConfig(flags, io);
  return { mode, model, effort };
}

/**
 * The flags after what another program has chosen for the session since `known`: the last choice counts, wherever it was
 * made. A model that cannot be used here changes nothing.
 */
export function adoptChoices(
  flags: FlagValues,
  known: ConversationSettings,
  stored: ConversationSettings,
  io: CommandIo,
): FlagValues {
  let changed = flags;
  for (const id of ["mode", "model", "effort"] as const) {
    if (stored[id] === known[id]) continue;
    try {
      changed = chooseOption(changed, id, stored[id] ?? open, io);
    } catch (error) {
      if (toSheafError(error).code === "INTERNAL") throw error;
    }
  }
  return changed;
}
