/** Flags of commands that are no prompt: what a command does not know is a usage error, never ignored (C20). */
import { SheafError } from "../base/errors.ts";
import type { ParsedArguments } from "./arguments.ts";
import { commandDescriptions } from "./command-descriptions.ts";
import type { FlagName } from "./flags.ts";

/** Flags that go with every command: a launcher may put a profile before all of them. */
const general: ReadonlySet<FlagName> = new Set(["verbose", "compat"]);

/** @throws SheafError USAGE that names the first flag beside those of the command. */
export function checkFlags({ command, flags }: ParsedArguments): void {
  if (command === "prompt") return;
  const known = commandDescriptions[command].flags;
  const other = (Object.keys(flags) as FlagName[]).find((name) => !general.has(name) && !known.includes(name));
  if (other === undefined) return;
  const list = known.length === 0 ? "it takes none" : `it takes ${known.map((name) => `--${name}`).join(", ")}`;
  throw new SheafError("USAGE", `--${other} does not go with sheaf ${command}: ${list}`);
}

/** The value of `--format`. @throws SheafError USAGE for an unknown one. */
export function toCommandFormat({ flags }: ParsedArguments): "text" | "json" {
  const { format = "text" } = flags;
  if (flags.json) return "json";
  if (format === "text" || format === "json") return format;
  throw new SheafError("USAGE", `--format "${format}" is unknown: use text or json`);
}
