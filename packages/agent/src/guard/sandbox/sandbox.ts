/** What holds the commands of a run (S-30, S-31). */

/** Found once at the start of a run; the log tells its `state` (C5). */
export type Sandbox =
  | {
      readonly state: "enabled";
      /** The program of the system that holds commands. */
      readonly kind: "bubblewrap" | "seatbelt";
      /** Absolute. */
      readonly file: string;
    }
  /** The user said so: commands need `--force` or a rule. */
  | { readonly state: "disabled" }
  /** It was wanted and cannot start: commands are refused. */
  | {
      readonly state: "unavailable";
      /** What failed, without a full stop. */
      readonly problem: string;
      /** What makes it work here, without a full stop. */
      readonly advice: string;
      /** What failed and what to do, in one line. */
      readonly reason: string;
    };

/** Why commands are refused; undefined if they are not. */
export function findFault(sandbox: Sandbox): string | undefined {
  return sandbox.state === "unavailable" ? sandbox.reason : undefined;
}

/** What the user asked for with `--sandbox`. */
export type SandboxSetting = "enabled" | "disabled";
