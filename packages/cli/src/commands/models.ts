/** `sheaf models [PROVIDER]` lists names for `--model`, and the models of the reachable providers. */
import { toListedName } from "@sheaf/agent/config/cursor-models";
import { toUserFiles } from "@sheaf/base/paths";
import { toProviders } from "@sheaf/agent/config/providers";
import type { UserConfig } from "@sheaf/agent/config/user-config";
import { SheafError } from "@sheaf/base/errors";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { askAllProviders, askProvider, type ProviderModels } from "../model-names.ts";
import { printJson, printText } from "../standard-output.ts";
import { chooseProvider, readConfigFile } from "../run-config.ts";
import { findProviderFlag } from "../switch-model.ts";

/**
 * Prints the names from all providers with a key and from local servers, and which of them didn't answer.
 * @throws SheafError if the PROVIDER of the command line doesn't answer; USAGE, CONFIG_INVALID.
 */
export async function runModels(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { environment, dialect } = io;
  const { flags, positionals } = parsed;
  const [word] = positionals;
  const isCursor = dialect.profile === "cursor-2026";
  const needless = findProviderFlag(flags);
  if (word === undefined && !isCursor && needless !== undefined) {
    throw new SheafError("USAGE", `--${needless} goes with one provider: write sheaf models PROVIDER --${needless}=…`);
  }
  const format = toCommandFormat(parsed);
  const files = toUserFiles(environment);
  const { found: config } = readConfigFile(io);
  // Each provider has its own key, so these flags need a PROVIDER.
  const modelFlags =
    word === undefined ? {} : { apiKey: flags["api-key"], baseUrl: flags["base-url"], headers: flags.header };
  const settings = { flags: modelFlags, environment, config, files };
  if (word !== undefined) {
    const answer = await askProvider(chooseProvider(word, toProviders(config.settings)), settings);
    return format === "json" ? printAnswers(io, [answer]) : printText(io, formatNames(answer));
  }
  const answers = await askAllProviders(settings);
  if (format === "json") return printAnswers(io, answers);
  return printText(io, isCursor ? formatList(answers, config.settings) : formatText(answers));
}

function printAnswers(io: CommandIo, answers: readonly ProviderModels[]): Promise<number> {
  return printJson(io, { builtIn: ["offline", "scripted:FILE"], providers: answers });
}

function formatNames({ provider, models }: ProviderModels): string {
  return models.length === 0 ? `${provider} has no models.\n` : models.map((model) => `${model}\n`).join("");
}

/** Formats the list for clients of `cursor-agent` (C43): `auto` is the model of the user's settings. */
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
