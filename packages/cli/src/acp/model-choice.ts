/** Names of models that an editor may offer (C54). */
import { toUserFiles } from "@sheaf/base/paths";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { toProviders } from "@sheaf/agent/config/providers";
import type { CommandIo } from "../io.ts";
import { askAllProviders } from "../model-names.ts";

export interface ModelNames {
  /** Those of the configuration; once they have answered, those of the providers, too. */
  readonly known: readonly string[];
  /** Asks the providers with a key, and local servers, once. Never rejects. */
  ask(): Promise<void>;
}

/** Asks nobody yet. */
export function createModelNames({ environment }: CommandIo): ModelNames {
  const files = toUserFiles(environment);
  const config = findUserConfig(files.config);
  const { modelAliases = {} } = config.settings;
  const configured = [
    ...Object.keys(modelAliases).filter((name) => name !== "*"),
    ...[...toProviders(config.settings).values()].flatMap(({ name, models }) => models.map((id) => `${name}/${id}`)),
  ];
  let known: readonly string[] = configured;
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    // The keys of all providers are their own, so no flag counts.
    const answers = await askAllProviders({ flags: {}, environment, config, files });
    known = [...new Set([...configured, ...answers.flatMap(({ models }) => models)])];
  };
  return {
    get known() {
      return known;
    },
    ask: () => (asking ??= ask()),
  };
}
