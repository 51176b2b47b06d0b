/** Names of models that programs written for `cursor-agent` pass, as names of Sheaf (C43). */
import type { Notice } from "@sheaf/protocol";
import { findModelName, isBuiltInModel, type ModelSettings } from "./endpoints.ts";
import { toProviders } from "./providers.ts";

/** The model to use instead; undefined: the model of the user's settings. */
export interface CursorModel {
  readonly model: string | undefined;
  /** Notice for the user that another model answers. */
  readonly notice?: Notice;
}

/** Names for the model of the settings, which need no notice. */
const settingsNames: ReadonlySet<string> = new Set(["auto", "default"]);

/**
 * Translates the name of `--model` in the profile `cursor-2026`. Names of Sheaf and exact aliases stay the same. A name
 * from that program becomes the `"*"` alias, else the model of the settings, with a notice.
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

/** The model behind a name from `toListedName`, or behind an id that the configuration has for one provider only. */
function toListedModel(name: string, { config }: ModelSettings): string | undefined {
  const providers = toProviders(config.settings);
  const model = name.replaceAll("__", "/");
  const slash = model.indexOf("/");
  if (slash > 0 && providers.has(model.slice(0, slash))) return model;
  const owners = [...providers.values()].filter(({ models }) => models.includes(name));
  return owners.length === 1 ? `${owners[0]!.name}/${name}` : undefined;
}

/** The effort in a name: these names contain it, and ids of providers do not. */
const effort = /(-(thinking|fast|none|minimal|low|medium|high|xhigh|max))+$/;

/** The provider's own name of a model, used if the settings have no model; undefined if it has no such name. */
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
