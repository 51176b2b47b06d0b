/** What a run is set up with: flags, environment and the user's configuration. */
import { SheafError } from "@sheaf/base/errors";
import { findNearest } from "@sheaf/base/nearest-names";
import { toUserFiles } from "@sheaf/base/paths";
import type { FlagValues } from "./flags.ts";
import type { CommandIo } from "./io.ts";
import { readPromptTexts, type PromptTexts } from "./prompt-texts.ts";
import { toAllowRules, toToolChoice } from "./tool-choice.ts";
import type { ToolChoice } from "@sheaf/agent/tools/registry";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { toCursorModel } from "@sheaf/agent/config/cursor-models";
import { type ModelFlags, type ModelSettings, toProvider } from "@sheaf/agent/config/endpoints";
import type { Provider } from "@sheaf/agent/config/providers";

/** What one run is set up with. */
export interface RunConfig extends Config, PromptTexts {
  /** What of the prompt a person wrote, if not all of it: what stdin brought names no command (C91). */
  readonly typed?: string | undefined;
  readonly toolChoice: ToolChoice;
}

/** The settings of a run. @throws SheafError USAGE or CONFIG_INVALID. */
export function toConfig(flags: FlagValues, io: CommandIo): RunConfig {
  const { config: found, flags: raw, notices } = toModelSettings(toRawSettings(flags), io);
  const allow = [...(raw.allow ?? []), ...toAllowRules(flags)];
  const settings = { ...raw, ...toServerSettings(flags, io), allow, notices: [...(io.notices ?? []), ...notices] };
  const config = createConfig(settings, io.environment, io.cwd, found);
  return { ...config, ...readPromptTexts(flags, io.cwd), toolChoice: toToolChoice(flags) };
}

/** What the model depends on. In the profile `cursor-2026` its name is made one of Sheaf's (C43). */
export function toModelSettings<Raw extends ModelFlags>(
  raw: Raw,
  { environment, profile, cwd }: Pick<CommandIo, "environment" | "profile" | "cwd">,
): ModelSettings & { readonly flags: Raw; readonly notices: readonly string[] } {
  const files = toUserFiles(environment);
  const settings = { flags: raw, environment, cwd, config: findUserConfig(files.config), files, notices: [] };
  if (profile !== "cursor-2026") return settings;
  const { model, notice } = toCursorModel(raw.model, settings);
  return { ...settings, flags: { ...raw, model }, notices: notice === undefined ? [] : [notice] };
}

/** `cursor-agent` uses the servers of the user's file once they are approved (S-108). */
export function toServerSettings(flags: FlagValues, { profile }: Pick<CommandIo, "profile">) {
  return { readsCursorServers: profile === "cursor-2026" && flags["approve-mcps"] === true };
}

/** Flags as the configuration takes them. */
export function toRawSettings(flags: FlagValues): Parameters<typeof createConfig>[0] {
  return {
    model: flags.model,
    apiKey: flags["api-key"],
    baseUrl: flags["base-url"],
    headers: flags.header,
    waitsForQuota: flags["wait-for-quota"],
    fallbackModel: flags["fallback-model"],
    mode: flags.mode,
    effort: flags.effort,
    webSearch: flags["web-search"],
    plan: flags.plan,
    agents: flags.agents,
    workspace: flags.workspace?.at(-1),
    addDir: flags["add-dir"],
    trust: flags.trust,
    timeout: flags.timeout,
    contextTokens: flags["context-tokens"],
    maxTurns: flags["max-turns"],
    maxToolCalls: flags["max-tool-calls"],
    maxTokens: flags["max-tokens"],
    maxCostUsd: flags["max-cost-usd"],
    onDenied: flags["on-denied"],
    sandbox: flags.sandbox,
    heartbeat: flags.heartbeat,
    force: flags.force,
    allow: flags.allow,
    ask: flags.ask,
    deny: flags.deny,
  };
}

/**
 * The word is not repeated where it may be a key that was put into the wrong place (S-41).
 * @throws SheafError USAGE for an unknown one, with those that are known.
 */
export function chooseProvider(
  word: string,
  providers: ReadonlyMap<string, Provider>,
  { repeatsWord = true }: { readonly repeatsWord?: boolean } = {},
): Provider {
  // `anthropic/…` is what one has at hand.
  const provider = providers.get(word) ?? providers.get(toProvider(word));
  if (provider) return provider;
  const nearest = findNearest(word, [...providers.keys()]);
  const question = nearest.length === 0 ? "" : `did you mean ${nearest.join(" or ")}? `;
  throw new SheafError(
    "USAGE",
    `the provider ${repeatsWord ? `"${word}" ` : ""}is unknown: ${question}use one of ${[...providers.keys()].join(", ")}`,
  );
}
