/** Ways to help an editor's user who has no key (C56). */
import type { AuthMethod, ClientCapabilities } from "@agentclientprotocol/sdk/unstable";
import { toSheafError } from "@sheaf/base/errors";
import { toUserFiles } from "@sheaf/base/paths";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { toProviders, type Provider } from "@sheaf/agent/config/providers";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { toConfig } from "../run-config.ts";
import type { ModelNames } from "./model-choice.ts";

/**
 * Checks that a run could have a model. Without a configured one, the user can choose among models that providers list.
 * @throws SheafError AUTH_REQUIRED without any model to choose: the message has advice.
 */
export async function checkModel(flags: FlagValues, io: CommandIo, names: ModelNames): Promise<void> {
  const { model, chooseModel } = toConfig(flags, io);
  try {
    chooseModel();
  } catch (error) {
    if (toSheafError(error).code !== "AUTH_REQUIRED") return;
    if (model === undefined) await names.ask();
    if (model !== undefined || names.known.length === 0) throw error;
  }
}

/** Returns ways to set a key: in the environment, or by `sheaf acp login` in the terminal of an editor that has one. */
export function toAuthMethods(flags: FlagValues, io: CommandIo, { auth }: ClientCapabilities): AuthMethod[] {
  const { settings } = findUserConfig(toUserFiles(io.environment).config);
  const all = [...toProviders(settings).values()];
  const { model } = toConfig(flags, io);
  const candidates = model === undefined ? all : all.filter(({ name }) => model.startsWith(`${name}/`));
  const needing = candidates.filter(({ key }) => key === "required");
  const providers = [...new Map(needing.map((provider) => [provider.credential, provider])).values()];
  const example = providers[0];
  // Programs for cursor-agent always log in by this method, even if Sheaf needs no key.
  const login = io.dialect.profile === "cursor-2026" ? [{ id: "cursor_login", name: "Key of the model" }] : [];
  if (example === undefined) return login;
  return [
    ...login,
    { id: "environment", name: "Key in the environment", description: formatAdvice(example) },
    ...(auth?.terminal ? providers.map(({ credential }) => toTerminalMethod(credential)) : []),
  ];
}

function formatAdvice({ credential, keyVariables: [variable = "SHEAF_API_KEY"] }: Provider): string {
  return (
    `Set ${variable} where the editor's settings start Sheaf, or run sheaf login ${credential} in a terminal; ` +
    "--model ollama/ID uses a local server, without a key."
  );
}

function toTerminalMethod(credential: string): AuthMethod {
  return {
    type: "terminal",
    id: `login-${credential}`,
    name: `Key of ${credential}`,
    description: `Asks for the key in a terminal, and keeps it as sheaf login ${credential} does`,
    args: ["login", credential],
  };
}
