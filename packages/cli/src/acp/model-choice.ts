/** Names of models for an editor's menu (C54). */
import { toUserFiles } from "@sheaf/base/paths";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { toProviders } from "@sheaf/agent/config/providers";
import type { CommandIo } from "../io.ts";
import { askAllProviders } from "../model-names.ts";

export interface ModelNames {
  /** Models of the configuration, and of the providers that have answered. */
  readonly known: readonly string[];
  /** Asks the providers with a key, and local servers, once. Never rejects. */
  ask(): Promise<void>;
}

/** Creates the names, before any request. */
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
    // The providers have different keys, so no flag applies.
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
