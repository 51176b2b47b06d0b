/** The sandbox that commands of a run get (S-30, S-31). */

/** Found once at the start of a run; the log records its `state` (C5). */
export type Sandbox =
  | {
      readonly state: "enabled";
      /** The sandbox program's kind. */
      readonly kind: "bubblewrap" | "seatbelt";
      /** Absolute. */
      readonly file: string;
    }
  /** The user switched it off: commands need `--force` or a rule. */
  | { readonly state: "disabled" }
  /** The user declared this machine a throw-away container: commands run by its rules, without a sandbox (S-254). */
  | { readonly state: "container" }
  /** It is switched on but cannot start: commands are refused. */
  | {
      readonly state: "unavailable";
      /** What failed, without a full stop. */
      readonly problem: string;
      /** The way to make it work here, without a full stop. */
      readonly advice: string;
      /** What failed and what to do, in one line. */
      readonly reason: string;
    };

/** The reason why commands are refused; undefined if they are not. */
export function findFault(sandbox: Sandbox): string | undefined {
  return sandbox.state === "unavailable" ? sandbox.reason : undefined;
}

/** The way the user wants commands held. */
export type SandboxSetting = "enabled" | "disabled" | "container";

/** Returns true if programs of the workspace may run: the sandbox holds them, or the machine is thrown away after them. */
export function isExpendable({ state }: Sandbox): boolean {
  return state === "enabled" || state === "container";
}
