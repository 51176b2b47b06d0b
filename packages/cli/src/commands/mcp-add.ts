/** What flags of `sheaf mcp add` say of a server (C114). */
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import type { McpServerSettings } from "@sheaf/agent/config/mcp-settings";
import type { FlagValues } from "../flags.ts";

/** @throws SheafError USAGE. */
export function toServerLimits(
  flags: Pick<FlagValues, "timeout" | "start-timeout">,
): Pick<McpServerSettings, "timeoutSeconds" | "startTimeoutSeconds"> {
  const [call, start] = [toSeconds("timeout", flags.timeout), toSeconds("start-timeout", flags["start-timeout"])];
  return {
    ...(call !== undefined && { timeoutSeconds: call }),
    ...(start !== undefined && { startTimeoutSeconds: start }),
  };
}

function toSeconds(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new SheafError("USAGE", `--${flag} "${text}" is not a time: write seconds, more than 0 and at most 86400`);
}

/** `NAME=VALUE`, or `NAME` for the value of this environment. @throws SheafError USAGE. */
export function toServerEnvironment(
  entries: readonly string[],
  environment: Environment,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [, name, value = name === undefined ? undefined : environment[name]] =
        /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(entry) ?? [];
      // What cannot be read may be a key.
      if (name === undefined) throw new SheafError("USAGE", "--env needs the form NAME=VALUE, or NAME alone");
      if (value !== undefined) return [name, value] as const;
      throw new SheafError("USAGE", `--env ${name}: the environment has no such variable; write ${name}=VALUE`);
    }),
  );
}
