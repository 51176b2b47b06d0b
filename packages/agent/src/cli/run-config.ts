/** What a run is set up with: flags, environment and the user's configuration. */
import { findUserConfig } from "../config/config-file.ts";
import { createConfig, type Config } from "../config/config.ts";
import { toUserFiles } from "../base/paths.ts";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";

/** The settings of a run. @throws SheafError USAGE or CONFIG_INVALID. */
export function toConfig(flags: FlagValues, io: CommandIo): Config {
  const found = findUserConfig(toUserFiles(io.environment).config);
  const raw = toRawSettings(flags);
  // There, `auto` is the model of the user's settings.
  const isAuto = io.profile === "cursor-2026" && raw.model === "auto";
  return createConfig(isAuto ? { ...raw, model: undefined } : raw, io.environment, io.cwd, found);
}

/** Flags as the configuration takes them. */
export function toRawSettings(flags: FlagValues): Parameters<typeof createConfig>[0] {
  return {
    model: flags.model,
    apiKey: flags["api-key"],
    baseUrl: flags["base-url"],
    headers: flags.header,
    waitsForQuota: flags["wait-for-quota"],
    mode: flags.mode,
    plan: flags.plan,
    workspace: flags.workspace?.at(-1),
    addDir: flags["add-dir"],
    trust: flags.trust,
    timeout: flags.timeout,
    maxTurns: flags["max-turns"],
    maxToolCalls: flags["max-tool-calls"],
    maxTokens: flags["max-tokens"],
    maxCostUsd: flags["max-cost-usd"],
    onDenied: flags["on-denied"],
    sandbox: flags.sandbox,
    heartbeat: flags.heartbeat,
    force: flags.force,
    allow: flags.allow,
    deny: flags.deny,
  };
}
