/** Where the package of a model may lie. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import type { PackageEndpoint } from "../src/endpoint.ts";
import { findPackage } from "../src/packages/create-language-model.ts";

function createFolders() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-packages-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [config, workspace] = [join(top, "config"), join(top, "workspace")];
  for (const folder of [config, workspace]) {
    mkdirSync(folder);
    writeFileSync(join(folder, "own.mjs"), "");
  }
  return { config, workspace };
}

function find(name: string, folder: string, writable: readonly string[]): string {
  const identity = { provider: "mine", modelId: "m", displayName: "m", baseUrl: "", apiKey: undefined };
  const endpoint: PackageEndpoint = {
    ...identity,
    apiKeySource: "none",
    headers: {},
    settings: { package: name },
    folder,
    writable,
  };
  return findPackage(endpoint);
}

test(verifies("S-224", "a package is not loaded from the workspace, by its name or through a link"), () => {
  const { config, workspace } = createFolders();
  symlinkSync(join(workspace, "own.mjs"), join(config, "link.mjs"));
  for (const name of ["../workspace/own.mjs", join(workspace, "own.mjs"), "./link.mjs"]) {
    expect(() => find(name, config, [workspace])).toThrow(
      `the package "${name}" of the provider mine is ${join(workspace, "own.mjs")}, in the workspace: a command could change it there, so copy it to ${config} and name it from there in "package"`,
    );
  }
});

test(verifies("S-224", "but from elsewhere, and from the configuration wherever that is"), () => {
  const { config, workspace } = createFolders();
  const address = pathToFileURL(join(config, "own.mjs")).href;
  expect(find("./own.mjs", config, [workspace])).toBe(address);
  expect(find("./own.mjs", config, [join(config, "..")])).toBe(address);
  expect(find("../workspace/own.mjs", config, [])).toBe(pathToFileURL(join(workspace, "own.mjs")).href);
});
