/** Finds a package of the user's: below the folder of the configuration, never in a workspace (S-01, S-06). */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SheafError } from "../../base/errors.ts";
import type { PackageEndpoint } from "../endpoint.ts";

/** Stands for the package while it is looked for from another place than this file. */
const placeholder = "sheaf-package:";

/**
 * The address for `import()`.
 * @throws SheafError CONFIG_INVALID when it is not there; the message has the command that installs it.
 */
export function findPackage({ provider, settings, folder }: PackageEndpoint): string {
  const { package: name } = settings;
  if (/^\.{0,2}\//.test(name)) return findFile(resolve(folder, name), provider);
  const installed = join(folder, "node_modules", toPackageName(name));
  if (!existsSync(installed)) throw createMissingError(provider, name, folder);
  const parentURL = pathToFileURL(join(folder, "config.json")).href;
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === placeholder ? nextResolve(name, { ...context, parentURL }) : nextResolve(specifier, context),
  });
  try {
    return import.meta.resolve(placeholder);
  } catch (cause) {
    const message = `the package "${name}" of the provider ${provider} in ${folder} cannot be loaded: install it again`;
    throw new SheafError("CONFIG_INVALID", message, { cause });
  } finally {
    hooks.deregister();
  }
}

function findFile(file: string, provider: string): string {
  if (existsSync(file)) return pathToFileURL(file).href;
  throw new SheafError(
    "CONFIG_INVALID",
    `the file ${file} of the provider ${provider} does not exist: correct "package"`,
  );
}

/** `@scope/name` of `@scope/name/part`. */
function toPackageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function createMissingError(provider: string, name: string, folder: string): SheafError {
  return new SheafError(
    "CONFIG_INVALID",
    `the package "${name}" of the provider ${provider} is not installed: run npm install --prefix ${folder} ${toPackageName(name)}`,
  );
}
