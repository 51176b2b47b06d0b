/** What a run is set up with: flags, environment and the user's configuration. */
import { findUserConfig } from "../config/config-file.ts";
import { createConfig, type Config } from "../config/config.ts";
import { toUserFiles } from "../config/paths.ts";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** The settings of a run. @throws SheafError USAGE or CONFIG_INVALID. */
export function toConfig(flags: FlagValues, io: CommandIo): Config {
  const found = findUserConfig(toUserFiles(io.environment).config);
  return createConfig(toRawSettings(flags), io.environment, io.cwd, found);
}

function toRawSettings(flags: FlagValues): Parameters<typeof createConfig>[0] {
  return {
    model: flags.model,
    apiKey: flags["api-key"],
    baseUrl: flags["base-url"],
    headers: flags.header,
    waitsForQuota: flags["wait-for-quota"],
    mode: flags.mode,
    plan: flags.plan,
    workspace: flags.workspace,
    timeout: flags.timeout,
    maxTurns: flags["max-turns"],
    maxToolCalls: flags["max-tool-calls"],
    maxTokens: flags["max-tokens"],
    maxCostUsd: flags["max-cost-usd"],
    onDenied: flags["on-denied"],
    heartbeat: flags.heartbeat,
  };
}
