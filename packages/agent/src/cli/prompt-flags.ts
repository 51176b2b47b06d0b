/** Which flags go with a prompt. */
import { SheafError } from "../base/errors.ts";
import type { FlagName, FlagValues } from "./flags.ts";

/** Flags of everything that prints a run. */
export const outputFlags = ["output-format", "include-thinking", "stream-partial-output", "compat", "locale"] as const;

/** How a model is reached, and what it may do; of a server, too. */
export const requestFlags = [
  "api-key",
  "base-url",
  "header",
  "fallback-model",
  "mode",
  "effort",
  "web-search",
  "agents",
  "plan",
  "force",
  "allow",
  "ask",
  "deny",
] as const;

/** What a run may take; of a server, each of its runs. */
export const limitFlags = [
  "wait-for-quota",
  "context-tokens",
  "max-turns",
  "max-tool-calls",
  "max-tokens",
  "max-cost-usd",
  "timeout",
  "heartbeat",
] as const;

/** The settings of a run, whoever prints it. */
export const settingFlags = [
  "model",
  ...requestFlags,
  "system-prompt",
  "append-system-prompt",
  "append-system-prompt-file",
  "tools",
  "exclude-tools",
  "allowed-tools",
  "approve-mcps",
  "on-denied",
  "sandbox",
  "workspace",
  "add-dir",
  "trust",
  ...limitFlags,
] as const;

/** Flags of everything that runs a model and prints the run. */
export const runFlags = ["print", ...outputFlags, ...settingFlags, "output-schema", "record", "record-body"] as const;

/** Flags of the prompt itself. */
export const promptFlags: readonly FlagName[] = [
  ...runFlags,
  "input-format",
  "list-models",
  "list-tools",
  "file",
  "image",
  "resume",
  "continue",
  "session-id",
  "no-save",
  "worktree",
];

/** Flags of every command. */
export const commonFlags: readonly FlagName[] = ["verbose", "help"];

/** Flags that go with every prompt, and are none of it. */
export const generalFlags: readonly FlagName[] = ["verbose", "version", "help"];

/** What does not go with a prompt is a usage error, never ignored (C20). @throws SheafError USAGE that names the first such flag. */
export function checkPromptFlags(flags: FlagValues): void {
  const other = (Object.keys(flags) as FlagName[]).find(
    (name) => !promptFlags.includes(name) && !generalFlags.includes(name),
  );
  if (other === undefined) return;
  const advice = other === "format" || other === "json" ? "use --output-format" : "see sheaf help flags";
  throw new SheafError("USAGE", `--${other} does not go with a prompt: ${advice}`);
}
