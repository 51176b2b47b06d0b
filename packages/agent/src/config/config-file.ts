/** The user's configuration, `config.json`, checked. Described in docs/guide/models.md. */
import { readFileSync, statSync } from "node:fs";
import * as z from "zod/mini";
import createEnglishMessages from "zod/v4/locales/en.js";
import type { TokenPrice } from "@sheaf/protocol";
import type { McpServers } from "./mcp-server-settings.ts";
import { SheafError, toSheafError } from "../base/errors.ts";
import type { PackageSettings, WireProtocol } from "../model/endpoint.ts";
import { parseRule } from "../guard/permissions/rule.ts";
import { longestSeconds } from "./config.ts";
import { findJsonFault } from "./json-fault.ts";
import { createMcpSchema } from "./mcp-settings.ts";
import { createEndpointsSchema, createPackagesSchema } from "./provider-schema.ts";
import { adviseOnKey } from "./known-keys.ts";

/** The largest file that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** A server that the user gave a name. */
export interface EndpointSettings {
  readonly protocol: WireProtocol;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Variable that holds its key. */
  readonly apiKeyEnv?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ids of its models, for `sheaf models`. */
  readonly models?: readonly string[] | undefined;
}

/** A provider that a package speaks to. */
export interface PackageProviderSettings extends PackageSettings {
  /** Variable that holds its key. */
  readonly apiKeyEnv?: string | undefined;
  /** Ids of its models, for `sheaf models`. */
  readonly models?: readonly string[] | undefined;
}

/** What the user has set for good. Flags and environment win over it. */
export interface UserConfig {
  /** Where editors find the schema (`sheaf schema config`). */
  readonly $schema?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoints?: Readonly<Record<string, EndpointSettings>> | undefined;
  readonly providers?: Readonly<Record<string, PackageProviderSettings>> | undefined;
  readonly limits?:
    | { readonly silenceSeconds?: number | undefined; readonly maxTries?: number | undefined }
    | undefined;
  /** US dollars for a million tokens, by the name of the model (C24). */
  readonly prices?: Readonly<Record<string, TokenPrice>> | undefined;
  /** What a model takes in one request, by its name. Tokens. */
  readonly contextTokens?: Readonly<Record<string, number>> | undefined;
  /** Servers of the Model Context Protocol. */
  readonly mcpServers?: McpServers | undefined;
  /** Rules that hold for every run (S-06). */
  readonly permissions?:
    | { readonly allow?: readonly string[] | undefined; readonly deny?: readonly string[] | undefined }
    | undefined;
  /** C24; `timeout` in seconds. */
  readonly budgets?:
    | {
        readonly maxTurns?: number | undefined;
        readonly maxToolCalls?: number | undefined;
        readonly maxTokens?: number | undefined;
        readonly maxCostUsd?: number | undefined;
        readonly timeout?: number | undefined;
      }
    | undefined;
}

/** Made when there is a file to check: a start without one pays nothing. */
function createSchema(): z.ZodMiniType<UserConfig> {
  const whole = z.int().check(z.gte(1));
  const name = z.string().check(z.minLength(1), z.maxLength(200));
  const dollars = z.number().check(z.gte(0));
  const price = z.strictObject({
    input: dollars,
    output: dollars,
    cacheRead: z.exactOptional(dollars),
    cacheWrite: z.exactOptional(dollars),
  });
  const rule = z.string().check(z.refine(isRule, "expected a rule, for instance Shell(npm test) or Read(.env)"));
  const config = z.strictObject({
    // Editors look for it; it means nothing to a run.
    $schema: z.optional(z.string()),
    model: z.optional(name),
    endpoints: z.optional(createEndpointsSchema()),
    providers: z.optional(createPackagesSchema()),
    limits: z.optional(
      z.strictObject({
        silenceSeconds: z.optional(z.number().check(z.gt(0), z.lte(86_400))),
        maxTries: z.optional(whole.check(z.lte(10))),
      }),
    ),
    prices: z.optional(z.record(name, price)),
    contextTokens: z.optional(z.record(name, whole.check(z.gte(1000)))),
    mcpServers: z.optional(createMcpSchema()),
    permissions: z.optional(z.strictObject({ allow: z.optional(z.array(rule)), deny: z.optional(z.array(rule)) })),
    budgets: z.optional(
      z.strictObject({
        maxTurns: z.optional(whole),
        maxToolCalls: z.optional(whole),
        maxTokens: z.optional(whole),
        maxCostUsd: z.optional(z.number().check(z.gt(0))),
        timeout: z.optional(z.number().check(z.gt(0), z.lte(longestSeconds))),
      }),
    ),
  });
  return config.check(z.refine(hasOwnNames, 'a name stands in both "endpoints" and "providers": rename one'));
}

function isRule(text: string): boolean {
  try {
    parseRule(text);
    return true;
  } catch {
    return false;
  }
}

/** The JSON Schema of the file, for editors: name it in `$schema`. */
export function toConfigSchema(): object {
  return z.toJSONSchema(createSchema(), { io: "input", target: "draft-2020-12", unrepresentable: "any" });
}

function hasOwnNames({ endpoints = {}, providers = {} }: UserConfig): boolean {
  return Object.keys(providers).every((name) => !Object.hasOwn(endpoints, name));
}

/**
 * The configuration at `file`; empty if there is no file.
 * @throws SheafError CONFIG_INVALID that names the file, the place in it and what was expected (S-04), never a value.
 */
export function readUserConfig(file: string): UserConfig {
  const text = readText(file);
  return text === undefined ? {} : parseUserConfig(text, file);
}

function readText(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return undefined;
    // A pipe would be waited for.
    if (!stat.isFile()) throw createFault(file, "is no file", "make it a JSON file, or remove it");
    if (stat.size > MAX_BYTES) throw createFault(file, `is larger than ${MAX_BYTES} bytes`, "make it smaller");
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR") return undefined;
    if (error instanceof SheafError) throw error;
    throw createFault(file, `cannot be read (${code})`, "check its rights", error);
  }
}

/** A configuration from the text of its file. @throws SheafError CONFIG_INVALID. */
export function parseUserConfig(text: string, file: string): UserConfig {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const fault = findJsonFault(json);
  if (fault) {
    const expected = "expected JSON, which has no comments and no comma before a closing bracket";
    throw createFault(file, `is not valid at line ${fault.line}, column ${fault.column}`, expected);
  }
  const { localeError } = createEnglishMessages();
  const parsed = createSchema().safeParse(JSON.parse(json), { error: localeError });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => toProblems(issue));
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const advice = `the format is in docs/guide/models.md`;
  throw new SheafError(
    "CONFIG_INVALID",
    `the configuration ${file} is not valid at ${problems[0] ?? "its top level"}${more}; ${advice}`,
    { details: problems.join("\n") },
  );
}

/** Where there are several forms, the one that was meant is the one with the fewest problems. `above`: where it stands. */
function toProblems(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  const place = formatPath(path);
  switch (issue.code) {
    case "invalid_key":
      return issue.issues.map(({ message }) => `${place}: ${message}`);
    case "unrecognized_keys":
      return issue.keys.map((key) => `${place}: there is no key "${key}"${adviseOnKey(toConfigSchema(), path, key)}`);
    case "invalid_union": {
      const [nearest = []] = issue.errors.toSorted((one, other) => one.length - other.length);
      return nearest.flatMap((inner) => toProblems(inner, path));
    }
    default:
      return [`${place}: ${issue.message}`];
  }
}

/** `endpoints.lab.baseUrl`. */
function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) text += typeof key === "number" ? `[${key}]` : `${text === "" ? "" : "."}${String(key)}`;
  return text === "" ? "its top level" : text;
}

function createFault(file: string, problem: string, advice: string, cause?: unknown): SheafError {
  return new SheafError("CONFIG_INVALID", `the configuration ${file} ${problem}: ${advice}`, { cause });
}

/** A configuration as it was found: what is wrong with it is told where it is needed. */
export interface FoundConfig {
  readonly settings: UserConfig;
  readonly fault: SheafError | undefined;
}

/** As `readUserConfig`, with the failure as a value, so that a run can end with it as its reason (C22). */
export function findUserConfig(file: string): FoundConfig {
  try {
    return { settings: readUserConfig(file), fault: undefined };
  } catch (error) {
    return { settings: {}, fault: toSheafError(error) };
  }
}
