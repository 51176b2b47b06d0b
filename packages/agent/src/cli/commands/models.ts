/** `sheaf models [PROVIDER]`: which names `--model` takes, and what the providers in reach offer. */
import { findUserConfig } from "../../config/config-file.ts";
import { toListedName } from "../../config/cursor-models.ts";
import { findProviderEndpoint, type ModelSettings } from "../../config/endpoints.ts";
import { toDataFolder, toUserFiles } from "../../base/paths.ts";
import { keepListedWindows } from "../../config/model-windows.ts";
import { toProviders, type Provider } from "../../config/providers.ts";
import type { UserConfig } from "../../config/user-config.ts";
import { SheafError, toSheafError } from "../../base/errors.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { listModels } from "../../model/model-list.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";
import { chooseProvider } from "../run-config.ts";

/** How long a provider may take. Milliseconds. */
const TIMEOUT_MS = 5000;

/** What is known of a provider's models. */
interface ProviderModels {
  readonly provider: string;
  /** Names for `--model`. */
  readonly models: readonly string[];
  /** Why the provider itself was not asked, or what went wrong, in one line; undefined: it answered. */
  readonly problem: string | undefined;
}

/**
 * Prints the names. All providers with a key, and local servers, are asked; those that don't answer are listed with the
 * others. @throws SheafError for a PROVIDER that was named and does not answer; USAGE, CONFIG_INVALID.
 */
export async function runModels(parsed: ParsedArguments, { environment, profile }: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  const [word, ...rest] = positionals;
  const isCursor = profile === "cursor-2026";
  if (rest.length > 0) throw new SheafError("USAGE", `models takes one provider; "${positionals.join(" ")}" was given`);
  const needless = (["api-key", "base-url", "header"] as const).find((name) => flags[name] !== undefined);
  if (word === undefined && !isCursor && needless !== undefined) {
    throw new SheafError("USAGE", `--${needless} goes with one provider: write sheaf models PROVIDER --${needless}=…`);
  }
  const format = toCommandFormat(parsed);
  const files = toUserFiles(environment);
  const config = findUserConfig(files.config);
  if (config.fault) throw config.fault;
  // The keys of all providers are their own.
  const modelFlags =
    word === undefined ? {} : { apiKey: flags["api-key"], baseUrl: flags["base-url"], headers: flags.header };
  const settings = { flags: modelFlags, environment, config, files };
  const providers = toProviders(config.settings);
  if (word !== undefined) {
    const answer = await askProvider(chooseProvider(word, providers), settings);
    return format === "json" ? printAnswers([answer]) : printText(formatNames(answer));
  }
  const answers = await Promise.all([...providers.values()].map((provider) => tryProvider(provider, settings)));
  if (format === "json") return printAnswers(answers);
  return printText(isCursor ? formatList(answers, config.settings) : formatText(answers));
}

async function tryProvider(provider: Provider, settings: ModelSettings): Promise<ProviderModels> {
  try {
    return await askProvider(provider, settings);
  } catch (error) {
    return {
      provider: provider.name,
      models: toNames(provider, provider.models),
      problem: toSheafError(error).message,
    };
  }
}

async function askProvider(provider: Provider, settings: ModelSettings): Promise<ProviderModels> {
  const { name } = provider;
  // A package has no list that could be asked for.
  if (provider.kind === "package") {
    return { provider: name, models: toNames(provider, provider.models), problem: undefined };
  }
  const endpoint = findProviderEndpoint(provider, "ID", `${name}/ID`, settings);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const listed = await listModels(endpoint, signal);
    const models = toNames(provider, [...provider.models, ...listed.map(({ id }) => toVisibleLine(id))]);
    // A list from another address than the provider's own says nothing of the provider's models.
    if (settings.flags.baseUrl === undefined) {
      const windows = listed.map(({ id, windowTokens = 0 }) => [`${name}/${id}`, windowTokens] as const);
      keepListedWindows(toDataFolder(settings.environment), name, new Map(windows));
    }
    return { provider: name, models, problem: undefined };
  } catch (error) {
    if (!signal.aborted) throw error;
    const message = `${name} (${endpoint.baseUrl}) did not answer within ${TIMEOUT_MS / 1000} s: check the server`;
    throw new SheafError("NETWORK", message, { cause: error, source: "provider" });
  }
}

function toNames({ name }: Provider, ids: readonly string[]): string[] {
  return [...new Set(ids)].map((id) => `${name}/${id}`);
}

function printAnswers(answers: readonly ProviderModels[]): Promise<number> {
  return printJson({ builtIn: ["offline", "scripted:FILE"], providers: answers });
}

function formatNames({ provider, models }: ProviderModels): string {
  return models.length === 0 ? `${provider} has no models.\n` : models.map((model) => `${model}\n`).join("");
}

/** The list that clients of `cursor-agent` read (C43): `auto` is the model of the user's settings. */
function formatList(answers: readonly ProviderModels[], { modelAliases = {} }: UserConfig): string {
  const models = ["offline", ...answers.flatMap((answer) => answer.models)];
  const aliases = Object.entries(modelAliases).filter(([name]) => name !== "*" && name !== "auto");
  const rows = [...aliases, ...models.map((model) => [toListedName(model), model] as const)];
  const list = rows.map(([name, model]) => `${toVisibleLine(`${name} - ${model}`)}\n`).join("");
  return `Available models\n\nauto - Auto  (current)\n${list}\nTip: use --model <id> to switch.\n`;
}

function formatText(answers: readonly ProviderModels[]): string {
  const head = "offline        built in, rule-based, needs no key\nscripted:FILE  plays a file\n";
  const parts = answers.map(({ provider, models, problem }) => {
    const names = models.map((model) => `  ${model}\n`).join("");
    return `\n${provider}/ID\n${names}${problem === undefined ? "" : `  (${toVisibleLine(problem)})\n`}`;
  });
  return head + parts.join("");
}
