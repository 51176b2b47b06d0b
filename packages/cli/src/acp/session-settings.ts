/** The user's choices for a session in an editor: mode, model and effort (C54). */
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

/** Returns the modes, for editors without options. */
export function toModes({ mode }: RunConfig): SessionModeState {
  return { currentModeId: mode, availableModes: modes };
}

/** Returns the choice of models, for editors without options. */
export function toModelState({ model = open }: RunConfig, models: readonly string[]) {
  const availableModels = [...new Set([model, ...models])].map((name) => ({ modelId: name, name }));
  return { currentModelId: model, availableModels };
}

/** Returns the options of a session. `models`: names to choose from, in addition to the current one. */
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

/** Returns the flags after a choice. @throws SheafError USAGE for an unknown option or value, as for its flag. */
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
 * Returns the flags of a stored session: its model and effort, and its mode unless the command line has one. A model
 * that has become unusable is replaced by the settings' one.
 */
export function restoreChoices(flags: FlagValues, stored: ConversationSettings, io: CommandIo): FlagValues {
  const { mode, effort, model } = stored;
  const isModeNamed = flags.mode !== undefined || flags.plan;
  const restored = { ...flags, ...(!isModeNamed && mode && { mode }), ...(effort && { effort }) };
  // The flag may be for another provider than the stored model's.
  const isUnclear = toConfig(flags, io).model === undefined && findProviderFlag(flags) !== undefined;
  if (model === undefined || isUnclear) return restored;
  try {
    return switchModel(restored, model, io);
  } catch (error) {
    if (toSheafError(error).code === "INTERNAL") throw error;
    return restored;
  }
}

/** Returns a session's choices, as the store has them. */
export function toChoices(flags: FlagValues, io: CommandIo): ConversationSettings {
  const { mode, model, effort } = toConfig(flags, io);
  return { mode, model, effort };
}

/**
 * Returns the flags after choices that another program made for the session since `known`: the last choice wins. A
 * model that is unusable here changes no flag.
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
