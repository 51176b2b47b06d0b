import { expect, test } from "vitest";
import { toConfigFolder, toDataFolder } from "../src/paths.ts";

test.each([
  [{ SHEAF_HOME: "/x" }, "linux", "/x"],
  [{}, "linux", "/home/ada/.local/share/sheaf"],
  [{ XDG_DATA_HOME: "/data" }, "linux", "/data/sheaf"],
  [{ SHEAF_HOME: "" }, "linux", "/home/ada/.local/share/sheaf"],
  [{ XDG_DATA_HOME: "data" }, "linux", "/home/ada/.local/share/sheaf"],
  [{}, "darwin", "/home/ada/Library/Application Support/sheaf"],
] as const)("%j on %s", (environment, platform, folder) => {
  expect(toDataFolder(environment, platform, () => "/home/ada")).toBe(folder);
});

test.each([
  [{ SHEAF_HOME: "/x" }, "linux", "/x"],
  [{}, "linux", "/home/ada/.config/sheaf"],
  [{ XDG_CONFIG_HOME: "/conf" }, "linux", "/conf/sheaf"],
  [{ XDG_CONFIG_HOME: "." }, "linux", "/home/ada/.config/sheaf"],
  [{}, "darwin", "/home/ada/Library/Application Support/sheaf"],
] as const)("configuration: %j on %s", (environment, platform, folder) => {
  expect(toConfigFolder(environment, platform, () => "/home/ada")).toBe(folder);
});
