/** The sandbox of a run's commands (S-30, S-31). */

/** The state of the sandbox. Sheaf finds it once at the start of a run, and the log records it (C5). */
export type Sandbox =
  | {
      readonly state: "enabled";
      /** The sandbox program's kind. */
      readonly kind: "bubblewrap" | "seatbelt";
      /** Absolute path of the sandbox program. */
      readonly file: string;
    }
  /** The user switched it off: commands need `--force` or a rule. */
  | { readonly state: "disabled" }
  /** The user declared this machine a throw-away container: commands run by its rules, without a sandbox (S-254). */
  | { readonly state: "container" }
  /** The user wants a sandbox, but it cannot start, so Sheaf refuses commands. */
  | {
      readonly state: "unavailable";
      /** The failure, without a full stop. */
      readonly problem: string;
      /** The way to make it work here, without a full stop. */
      readonly advice: string;
      /** The failure and the advice, in one line. */
      readonly reason: string;
    };

/** Returns the reason why Sheaf refuses commands; undefined if it does not. */
export function findFault(sandbox: Sandbox): string | undefined {
  return sandbox.state === "unavailable" ? sandbox.reason : undefined;
}

/** The user's setting for commands. */
export type SandboxSetting = "enabled" | "disabled" | "container";

/** True if programs of the workspace may run: the sandbox contains them, or the machine is thrown away after them. */
export function isExpendable({ state }: Sandbox): boolean {
  return state === "enabled" || state === "container";
}
