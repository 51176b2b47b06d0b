/** The user's configuration: one schema for its types, its check, and the help of editors. */
import type { Effort } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { parsePathGlob } from "@sheaf/base/files/glob";
import { parseRule } from "@sheaf/permissions/rule";
import { sandboxChoices } from "@sheaf/sandbox/find/choose-sandbox";
import { hookSettings } from "./hook-settings.ts";
import { gitWorkspaceSettings, type GitWorkspaceSettings } from "./git-workspace-settings.ts";
import { headerFields, parseBaseUrl } from "./key-text.ts";
import { mcpServers } from "./mcp-settings.ts";
import { providerPresets } from "./provider-presets.ts";

/** Longest time that a timer takes, 24 days: a longer one would end at once. */
export const longestSeconds = 2_147_483;

/** Amounts of thinking that a user may set for a model (C36). */
export const efforts = ["off", "low", "medium", "high", "max"] as const satisfies Effort[];

const whole = s.integer({ minimum: 1 });
const modelName = s.string({ minLength: 1, maxLength: 200 });
const dollars = s.number({ minimum: 0 });

const providerName = s.refine(
  s.string({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }),
  "a name of letters, digits, points and dashes that is not built in",
  (name) => name !== "offline" && name !== "scripted" && !providerPresets.has(name),
);

const workspaceName = s.refine(s.string({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }), "the name of a workspace");

const commonFields = s.object({
  /** Variable that holds its key. */
  apiKeyEnv: s.optional(
    s.refine(
      s.string({ pattern: "^[A-Za-z_]\\w*$" }),
      "the name of a variable, not a key, and not CURSOR_API_KEY",
      (name) => name !== "CURSOR_API_KEY",
    ),
  ),
  /** Ids of its models, for `sheaf models`. */
  models: s.optional(s.list(modelName)),
});

const endpoint = s.extend(commonFields, {
  protocol: s.choice(["openai-responses", "openai-chat", "anthropic-messages", "gemini"]),
  baseUrl: s.refine(
    s.string(),
    "an address that starts with http:// or https://, without a name, a password, ? or #",
    (text) => parseBaseUrl(text).ok,
  ),
  headers: s.optional(headerFields),
});

/** A server that the user gave a name. */
export interface EndpointSettings extends s.ValueOf<typeof endpoint> {}

const packageProvider = s.extend(commonFields, {
  package: s.refine(s.string(), "the name of an npm package, or a path with ./ or /", isPackage),
  create: s.optional(s.refine(s.string({ pattern: "^[A-Za-z_$][\\w$]*$" }), "the name of an export")),
  options: s.optional(
    s.refine(
      s.record(s.anything()),
      'no key in "options": name its variable in "apiKeyEnv", or use sheaf login',
      (options) => !Object.hasOwn(options, "apiKey"),
    ),
  ),
});

export interface PackageProviderSettings extends s.ValueOf<typeof packageProvider> {}

const rules = s.list(s.refine(s.string(), "a rule, for instance Shell(npm test) or Read(.env)", isRule));

const price = s.object({
  input: dollars,
  output: dollars,
  cacheRead: s.optional(dollars),
  cacheWrite: s.optional(dollars),
});

const afterEdit = s.object({
  glob: s.refine(
    s.string({ minLength: 1 }),
    "a glob, for instance *.ts or src/**",
    (text) => parsePathGlob(text) !== undefined,
  ),
  command: s.refine(
    s.string({ minLength: 1, maxLength: 4000 }),
    "a command with {file} outside quotes: Sheaf quotes the name of the file itself",
    (text) => !quotedParts(text).some((part) => part.includes("{file}")),
  ),
});

/** Commands after an edit (S-96). */
export const afterEditCommands = s.list(s.strict(afterEdit), { maxItems: 10 });

/** Quoted parts of a command. In them, quotes around a file's name would not keep the shell from running it. */
function quotedParts(command: string): string[] {
  return [...command.matchAll(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs)].map(([part]) => part);
}

/** Commands that must pass before a run succeeds (C168). */
export const verifyCommands = s.list(
  s.refine(s.string({ maxLength: 4000 }), "a command, such as npm test", (text) => text.trim() !== ""),
  { maxItems: 10 },
);

export const maxVerifyRounds = 10;

/** The limits of a run; `timeout` in seconds. */
export const budgetSettings = s.strict(
  s.object({
    maxTurns: s.optional(whole),
    maxToolCalls: s.optional(whole),
    maxTokens: s.optional(whole),
    maxCostUsd: s.optional(s.number({ exclusiveMinimum: 0 })),
    timeout: s.optional(s.number({ exclusiveMinimum: 0, maximum: longestSeconds })),
  }),
);

const fields = s.object({
  /** Address of the schema, for editors (`sheaf schema config`). */
  $schema: s.optional(s.string()),
  model: s.optional(modelName),
  endpoints: s.optional(s.record<EndpointSettings>(s.strict(endpoint), providerName)),
  providers: s.optional(s.record<PackageProviderSettings>(s.strict(packageProvider), providerName)),
  limits: s.optional(
    s.strict(
      s.object({
        silenceSeconds: s.optional(s.number({ exclusiveMinimum: 0, maximum: 86_400 })),
        maxTries: s.optional(s.integer({ minimum: 1, maximum: 10 })),
      }),
    ),
  ),
  /** US dollars per million tokens, by the name of the model (C24). */
  prices: s.optional(s.record(s.strict(price), modelName)),
  /** Amount of thinking of models (C36). */
  effort: s.optional(s.choice(efforts)),
  /** Providers that can may search the web for the model (C48). */
  webSearch: s.optional(s.boolean()),
  /** The model may call subagents (C96). */
  agents: s.optional(s.boolean()),
  /** Tokens that fit into one request to a model, by its name. */
  contextTokens: s.optional(s.record(s.integer({ minimum: 1000 }), modelName)),
  /** True if a model takes images and PDF, by its name; default: yes (N67). */
  images: s.optional(s.record(s.boolean(), modelName)),
  /** Commands that run after a file was edited (S-96). */
  afterEdit: s.optional(afterEditCommands),
  /** Commands at events of a run (C80). */
  hooks: s.optional(hookSettings),
  /** Commands that must pass before a run succeeds (C168). */
  verify: s.optional(verifyCommands),
  /** Number of times that a failed `verify` command sends the model back to work; default 2. */
  verifyRounds: s.optional(s.integer({ minimum: 0, maximum: maxVerifyRounds })),
  /** A settings file of Claude Code, whose hooks become the user's own (C81). */
  hooksFile: s.optional(
    s.refine(s.string(), "an absolute path, or a path that starts with ~/", (text) => /^(~\/|\/)./.test(text)),
  ),
  /** False: the user's hooks run outside the sandbox, where they do not say otherwise (S-138). */
  hooksSandbox: s.optional(s.boolean()),
  /** The way commands are held (S-254). */
  sandbox: s.optional(s.choice(sandboxChoices)),
  mcpServers: s.optional(mcpServers),
  /** True if the servers of `~/.cursor/mcp.json` become the user's own (S-108). */
  cursorServers: s.optional(s.boolean()),
  /** A server's workspaces from git, by their names. */
  gitWorkspaces: s.optional(s.record<GitWorkspaceSettings>(gitWorkspaceSettings, workspaceName)),
  /** Rules that apply to every run (S-06). */
  permissions: s.optional(
    s.strict(s.object({ allow: s.optional(rules), ask: s.optional(rules), deny: s.optional(rules) })),
  ),
  /** Budgets of a run (C24). */
  budgets: s.optional(budgetSettings),
  /** Models that answer when the run's model is not available, in this order (C59). */
  fallbackModels: s.optional(s.list(modelName, { maxItems: 5 })),
  /** Models by the names that `--model` may give them; `*` means every name of `cursor-agent` (C43). */
  modelAliases: s.optional(s.record(modelName, modelName)),
  /** Output of `--stream-partial-output` in the profile `cursor-2026` (C44). */
  partialOutput: s.optional(s.choice(["deltas", "both"])),
});

/** Settings that the user made permanent. Flags and environment take precedence. */
export interface UserConfig extends s.ValueOf<typeof fields> {}

export const userConfig: s.Schema<UserConfig> = s.refine<UserConfig>(
  s.strict(fields),
  'each name in only one of "endpoints" and "providers"',
  ({ endpoints = {}, providers = {} }) => Object.keys(providers).every((name) => !Object.hasOwn(endpoints, name)),
);

/** Settings of a workspace, which can only deny (S-06). */
export const workspaceConfig = s.strict(
  s.object({ permissions: s.optional(s.strict(s.object({ deny: s.optional(rules) }))) }),
);

function isRule(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch {
    return false;
  }
}

/** `name`, `@scope/name`, each with an optional part of the package (`name/part`), or a path. */
function isPackage(text: string): boolean {
  return /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)*$/i.test(text) || /^\.{0,2}\/./.test(text);
}
