/** Names of models that programs written for `cursor-agent` pass, as names of Sheaf (C43). */
import type { Notice } from "@sheaf/protocol";
import { findModelName, isBuiltInModel, type ModelSettings } from "./endpoints.ts";
import { toProviders } from "./providers.ts";

/** The model to name instead; undefined: that of the user's settings. */
export interface CursorModel {
  readonly model: string | undefined;
  /** What the user must know: another model answers. */
  readonly notice?: Notice;
}

/** Names for the model of the settings, which need no notice. */
const settingsNames: ReadonlySet<string> = new Set(["auto", "default"]);

/**
 * What the name of `--model` means in the profile `cursor-2026`. Names of Sheaf and exact aliases mean themselves; a name
 * of that program's own means the `"*"` alias, else the model of the settings, with a notice.
 */
export function toCursorModel(name: string | undefined, settings: ModelSettings): CursorModel {
  const { modelAliases = {} } = settings.config.settings;
  if (name === undefined || Object.hasOwn(modelAliases, name) || !/^[A-Za-z0-9][^\s\p{Cc}/]*$/u.test(name)) {
    return { model: name };
  }
  if (isBuiltInModel(name)) return { model: name };
  const listed = toListedModel(name, settings);
  if (listed !== undefined) return { model: listed };
  if (modelAliases["*"] !== undefined) return { model: modelAliases["*"] };
  const configured = findModelName({ ...settings, flags: {} });
  if (settingsNames.has(name)) return { model: undefined };
  if (!configured) return { model: toProviderModel(name) };
  const advice = `"modelAliases" in ${settings.files.config} can name another model for it`;
  const message = `${configured.name} answers instead of the model ${name}: ${advice}`;
  return { model: undefined, notice: { code: "MODEL_CHANGED", message } };
}

/** A name without a slash, for lists: those clients read letters, digits, points, dashes and underscores only. */
export function toListedName(model: string): string {
  return model.replaceAll("/", "__");
}

/** What `toListedName` made, or an id that the configuration names for one provider only. */
function toListedModel(name: string, { config }: ModelSettings): string | undefined {
  const providers = toProviders(config.settings);
  const model = name.replaceAll("__", "/");
  const slash = model.indexOf("/");
  if (slash > 0 && providers.has(model.slice(0, slash))) return model;
  const owners = [...providers.values()].filter(({ models }) => models.includes(name));
  return owners.length === 1 ? `${owners[0]!.name}/${name}` : undefined;
}

/** How hard a model thinks, which those names contain and ids of providers do not. */
const effort = /(-(thinking|fast|none|minimal|low|medium|high|xhigh|max))+$/;

/** Without a model of the settings: the provider's own name for it; undefined: it has none. */
function toProviderModel(name: string): string | undefined {
  const id = name.replace(/\[.*\]$/, "").replace(effort, "");
  const claude =
    /^(?:claude-)?(?<family>opus|sonnet|haiku)-(?<major>\d+)(?:[.-](?<minor>\d+))?$/.exec(id) ??
    /^claude-(?<major>\d+)(?:[.-](?<minor>\d+))?-(?<family>opus|sonnet|haiku)$/.exec(id);
  if (claude) {
    const { family, major, minor = "0" } = claude.groups!;
    return `anthropic/claude-${family}-${major}-${minor}`;
  }
  if (/^(gpt-|o\d)/.test(id)) return `openai/${id}`;
  return id.startsWith("gemini-") ? `google/${id}` : undefined;
}
