/** Opens a page in the user's browser. */
import { spawn } from "node:child_process";
import type { Environment } from "@sheaf/base/paths";
import { toFixedPath, withoutInnerFolders } from "../environment.ts";

/** Opens the address, never with a program of the workspace. It may fail silently, so show the address as well. */
export function openPage(address: URL, environment: Environment, workspace: string): void {
  const command = process.platform === "darwin" ? "open" : "xdg-open";
  const hasScreen = environment.DISPLAY !== undefined || environment.WAYLAND_DISPLAY !== undefined;
  if (process.platform === "win32" || (command === "xdg-open" && !hasScreen)) return;
  const { PATH } = withoutInnerFolders({ PATH: environment.PATH }, workspace);
  const child = spawn(command, [address.href], {
    cwd: "/",
    env: { ...environment, PATH: toFixedPath(PATH) },
    detached: true,
    stdio: "ignore",
  });
  child.on("error", () => undefined);
  child.unref();
}
