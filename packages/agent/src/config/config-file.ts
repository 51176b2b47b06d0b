/** The user's configuration, `config.json`, checked. Described in docs/guide/models.md. */
import { readFileSync, statSync } from "node:fs";
import * as z from "zod/mini";
import createEnglishMessages from "zod/v4/locales/en.js";
import type { TokenPrice } from "@sheaf/protocol";
import { SheafError, toSheafError } from "../errors.ts";
import type { WireProtocol } from "../providers/endpoint.ts";
import { parseBaseUrl } from "./base-url.ts";
import { findJsonFault } from "./json-fault.ts";
import { isHeaderName, isHeaderValue } from "./key-text.ts";
import { providerPresets } from "./provider-presets.ts";

/** The largest file that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

const protocols = [
  "openai-responses",
  "openai-chat",
  "anthropic-messages",
  "gemini",
] as const satisfies readonly WireProtocol[];

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

/** What the user has set for good. Flags and environment win over it. */
export interface UserConfig {
  readonly model?: string | undefined;
  readonly endpoints?: Readonly<Record<string, EndpointSettings>> | undefined;
  readonly limits?:
    | { readonly silenceSeconds?: number | undefined; readonly maxTries?: number | undefined }
    | undefined;
  /** US dollars for a million tokens, by the name of the model (C24). */
  readonly prices?: Readonly<Record<string, TokenPrice>> | undefined;
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
  const endpointName = z.string().check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected a name of letters, digits, points and dashes"),
    z.refine((value) => !isBuiltIn(value), "this name is built in: choose another one"),
  );
  const baseUrl = z.pipe(z.string(), z.transform(toCheckedUrl));
  const headers = z.record(
    z.string().check(z.refine(isHeaderName, "expected the name of a header")),
    z.string().check(z.refine(isHeaderValue, "expected one line of printable characters")),
  );
  const endpoint = z.strictObject({
    protocol: z.enum(protocols),
    baseUrl,
    apiKeyEnv: z.optional(z.string().check(z.regex(/^[A-Za-z_]\w*$/, "expected the name of a variable, not a key"))),
    headers: z.optional(headers),
    models: z.optional(z.array(name)),
  });
  const dollars = z.number().check(z.gte(0));
  const price = z.strictObject({
    input: dollars,
    output: dollars,
    cacheRead: z.exactOptional(dollars),
    cacheWrite: z.exactOptional(dollars),
  });
  return z.strictObject({
    model: z.optional(name),
    endpoints: z.optional(z.record(endpointName, endpoint)),
    limits: z.optional(
      z.strictObject({
        silenceSeconds: z.optional(z.number().check(z.gt(0), z.lte(86_400))),
        maxTries: z.optional(whole.check(z.lte(10))),
      }),
    ),
    prices: z.optional(z.record(name, price)),
    budgets: z.optional(
      z.strictObject({
        maxTurns: z.optional(whole),
        maxToolCalls: z.optional(whole),
        maxTokens: z.optional(whole),
        maxCostUsd: z.optional(z.number().check(z.gt(0))),
        timeout: z.optional(z.number().check(z.gt(0))),
      }),
    ),
  });
}

function isBuiltIn(name: string): boolean {
  return name === "offline" || name === "scripted" || providerPresets.has(name);
}

function toCheckedUrl(text: string, context: z.core.ParsePayload): string {
  const url = parseBaseUrl(text);
  if (url.ok) return url.value;
  context.issues.push({ code: "custom", message: url.expected, input: text });
  return z.NEVER;
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
  const problems = parsed.error.issues.flatMap(toProblems);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const advice = `the format is in docs/guide/models.md`;
  throw new SheafError(
    "CONFIG_INVALID",
    `the configuration ${file} is not valid at ${problems[0] ?? "its top level"}${more}; ${advice}`,
    { details: problems.join("\n") },
  );
}

/** A bad key of a record is told by the problems of the key. */
function toProblems(issue: z.core.$ZodIssue): string[] {
  const place = formatPath(issue.path);
  if (issue.code !== "invalid_key") return [`${place}: ${issue.message}`];
  return issue.issues.map(({ message }) => `${place}: ${message}`);
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
