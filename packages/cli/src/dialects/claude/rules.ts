/** Turns rules and names of tools of Claude Code into Sheaf's (C201). */
import type { Notice } from "@sheaf/protocol";
import { listToolNames, toOwnToolNames } from "@sheaf/agent/tools/registry";
import { SheafError } from "@sheaf/base/errors";
import type { DialectSettings } from "../dialect.ts";
import type { ClaudeState } from "./arguments.ts";

const editing: ReadonlySet<string> = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit"]);
const reading: ReadonlySet<string> = new Set(["Read", "Glob", "Grep", "LS", "NotebookRead"]);

/** Turns a rule into Sheaf's form; undefined if Sheaf can't express it. */
function toRule(text: string): string | undefined {
  const [, tool = text, words] = /^([^(]+)\(([\s\S]*)\)$/.exec(text) ?? [];
  const server = /^mcp__(.+?)(?:__(.+))?$/.exec(tool);
  if (server) return `Mcp(${server[1]}:${server[2] ?? "*"})`;
  const glob = (words ?? "**")
    .replace(/^\/\//, "\0")
    .replace(/^\.?\//, "")
    .replace("\0", "/");
  if (editing.has(tool)) return `Write(${glob})`;
  if (reading.has(tool)) return `Read(${glob})`;
  if (tool === "WebFetch") return `WebFetch(${words?.replace(/^domain:/, "") ?? "*"})`;
  if (tool !== "Bash") return undefined;
  const command = (words ?? "*").replace(/:?\*$/, "").trim();
  return command.includes("*") ? undefined : `Shell(${command || "*"})`;
}

/** Returns rules that allow calls, if Sheaf can express them; files of the workspace are readable anyway. */
export function toGrants(rules: readonly string[]): readonly string[] {
  return rules.flatMap((text) => toRule(text) ?? []).filter((rule) => !rule.startsWith("Read"));
}

/** Returns rules that refuse calls, and hidden tools. @throws SheafError USAGE for a rule that Sheaf can't express. */
export function toDenials(rules: readonly string[]): {
  readonly rules: readonly string[];
  readonly tools: readonly string[];
} {
  const whole = rules.filter((text) => !text.includes("(") && !text.startsWith("mcp__"));
  const parts = rules.filter((text) => !whole.includes(text));
  return {
    rules: parts.map((text) => {
      const rule = toRule(text);
      if (rule !== undefined) return rule;
      throw new SheafError(
        "USAGE",
        `--disallowedTools "${text}" has no rule here that means the same: see sheaf help permissions`,
      );
    }),
    tools: toKnownTools(whole),
  };
}

/** Returns the tools of `--tools`; undefined without that flag. */
export function toOffered(words: readonly string[]): readonly string[] | undefined {
  const names = words.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== "");
  return names.includes("default") ? undefined : toKnownTools(names);
}

function toKnownTools(names: readonly string[]): readonly string[] {
  const known = new Set(listToolNames());
  return [...new Set(names.flatMap(toOwnToolNames))].filter((name) => known.has(name) || name.startsWith("mcp__"));
}

/** The permission modes of that program: Sheaf asks, unless a rule allows the call. */
const modes = {
  default: { askUnlessAllowed: ["Shell(*)", "Write(**)"] },
  dontAsk: { askUnlessAllowed: ["Shell(*)", "Write(**)"] },
  auto: { askUnlessAllowed: ["Shell(*)", "Write(**)"] },
  acceptEdits: { askUnlessAllowed: ["Shell(*)"] },
  plan: {},
  bypassPermissions: { force: true },
} as const satisfies Readonly<Record<string, DialectSettings>>;

export const bypassNotice: Notice = {
  code: "FLAG_IGNORED",
  message:
    "bypassPermissions allows every command, and leaves the sandbox on: only sheaf --sandbox disabled switches it off",
};

/** Returns the mode as a flag, so that it applies to a session in another mode as well (C69). */
export function toMode({ permissionMode }: ClaudeState): string {
  return permissionMode === "plan" ? "plan" : "agent";
}

/** Returns the settings of a mode. @throws SheafError USAGE for a mode that Sheaf lacks. */
export function toSettings({ permissionMode, mcpServers }: ClaudeState): DialectSettings {
  if (Object.hasOwn(modes, permissionMode)) return { ...modes[permissionMode as keyof typeof modes], mcpServers };
  const known = Object.keys(modes).join(", ");
  throw new SheafError("USAGE", `the permission mode "${permissionMode}" is unknown: use one of ${known}`);
}
