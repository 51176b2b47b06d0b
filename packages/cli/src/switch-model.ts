import { SheafError } from "@sheaf/base/errors";
import { toProvider } from "@sheaf/agent/config/endpoints";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { toConfig } from "./run-config.ts";

/**
 * Returns the flags with another model. A key, an address or a header of the command line stays with its provider.
 * @throws SheafError as for `--model`; USAGE for another provider than such a flag's.
 */
export function switchModel(flags: FlagValues, model: string, io: CommandIo): FlagValues {
  const switched = { ...flags, model };
  const config = toConfig(switched, io);
  const { model: before } = toConfig(flags, io);
  const bound = findProviderFlag(flags);
  if (bound !== undefined && before !== undefined && toProvider(before) !== toProvider(config.model ?? model)) {
    const provider = toProvider(before);
    const advice = `choose a model of ${provider}, or start Sheaf without --${bound}`;
    throw new SheafError("USAGE", `--${bound} belongs to ${provider}, but "${model}" does not: ${advice}`);
  }
  config.chooseModel();
  return switched;
}

/** Returns the first flag that belongs to one provider. */
export function findProviderFlag(flags: FlagValues): string | undefined {
  return (["api-key", "base-url", "header"] as const).find((name) => flags[name] !== undefined);
}
