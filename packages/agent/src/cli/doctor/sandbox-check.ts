/** What `sheaf doctor` says of the sandbox: a command that does nothing is really run in it (S-31). */
import { createConfig } from "../../config/config.ts";
import { withoutInnerFolders } from "../../guard/sandbox/environment.ts";
import { findProgram } from "../../guard/sandbox/programs.ts";
import { findSandbox } from "../../guard/sandbox/find/find-sandbox.ts";
import { hasSeccompFilter } from "../../guard/sandbox/hold/seccomp-filter.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import type { CheckResult } from "./checks.ts";

export async function checkSandbox({ environment, cwd }: CommandIo, flags: FlagValues): Promise<CheckResult> {
  const name = "sandbox";
  const { workspace, sandbox: setting } = createConfig(
    { workspace: flags.workspace?.at(-1), sandbox: flags.sandbox },
    environment,
    cwd,
  );
  const variables = withoutInnerFolders(environment, workspace);
  const sandbox = await findSandbox({
    setting,
    workspace,
    environment: variables,
    memory: undefined,
    now: Date.now,
  });
  switch (sandbox.state) {
    case "disabled": {
      const advice = "commands run as you do, by a rule or --force only; leave --sandbox disabled out to hold them";
      return { name, status: "warn", found: "switched off", advice };
    }
    case "unavailable": {
      const advice = `${sandbox.advice}; until then every command is refused`;
      return { name, status: "fail", found: `no sandbox works here (${sandbox.problem})`, advice };
    }
    case "enabled": {
      const found = `${sandbox.kind} (${sandbox.file}) holds commands`;
      const lack = sandbox.kind === "bubblewrap" ? findLack(variables) : undefined;
      return lack
        ? { name, status: "warn", found: `${found}; ${lack.found}`, advice: lack.advice }
        : { name, status: "ok", found };
    }
  }
}

/** What works without, but not as well. */
function findLack(
  environment: CommandIo["environment"],
): { readonly found: string; readonly advice: string } | undefined {
  if (!hasSeccompFilter(process.arch)) {
    const advice = "use a machine of x64 or arm64 where commands must not reach sockets of its programs";
    return { found: `on ${process.arch} sockets of this machine's programs are not closed to them`, advice };
  }
  if (findProgram("nsenter", environment) === undefined) {
    const advice = "install util-linux: rules Network(…) and commands in the background need it";
    return { found: "nsenter is not installed", advice };
  }
  return undefined;
}
