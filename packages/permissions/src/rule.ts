/** Parses the user's rules, such as `Shell(words)`, `Read(glob)`, `Network(domain)` and `Mcp(server:tool)`. */
import type { CredentialName, RegistryName } from "@sheaf/base/command-network";
import { quoteValue, SheafError } from "@sheaf/base/errors";
import { parseHostPattern, type HostPattern } from "@sheaf/base/host-pattern";
import { type FileRule, parsePathGlob } from "@sheaf/base/files/glob";

export interface ShellRule {
  readonly kind: "Shell";
  /** The original text of the rule, for messages. */
  readonly text: string;
  /** The first words of the commands; undefined for `Shell(*)`, which covers every command. */
  readonly words: readonly string[] | undefined;
}

/** A rule about hosts, for `web_fetch` or for commands. `PrivateNetwork` also opens private networks (S-103). */
interface HostRule<Kind extends HostKind> {
  readonly kind: Kind;
  readonly text: string;
  /** Pattern of hosts; in a rule about registries it matches no host. */
  readonly host: HostPattern;
  /** A language, as in `Network(@npm)`: its package manager knows the hosts of its registries (S-98). */
  readonly registry?: RegistryName;
}

type HostKind = "WebFetch" | "Network" | "PrivateNetwork";
export type NetworkRule = HostRule<"Network" | "PrivateNetwork">;

const registryNames: readonly RegistryName[] = ["npm", "python", "go", "rust", "ruby", "java"];

const credentialNames: readonly CredentialName[] = ["npm", "python", "java"];

/** A rule `Credentials(@npm)`, which lets commands see the registry tokens in the user's files (S-104). */
interface CredentialRule {
  readonly kind: "Credentials";
  readonly text: string;
  readonly credentials: CredentialName;
}

/** A rule about tools of a server. Without a `tool`, it covers all of them. */
interface McpRule {
  readonly kind: "Mcp";
  readonly text: string;
  readonly server: string;
  readonly tool: string | undefined;
}

export type Rule = ShellRule | FileRule | HostRule<HostKind> | CredentialRule | McpRule;

/** The rules that apply to a call. */
export interface Rules {
  readonly allows: readonly Rule[];
  readonly denies: readonly Rule[];
}

const forms =
  'write Shell(words), Shell(*), Read(glob), Write(glob), WebFetch(domain), Network(domain), PrivateNetwork(domain), Credentials(@npm) or Mcp(server:tool), for instance "Shell(npm test)" or "Read(.env)"';

/** Matches words that the shell does not change. */
const plainWords = /^[\p{L}\p{M}\p{N}_./:@%+=,^~ \t-]*$/u;

/** Parses a rule without expanding `~` in its paths. */
export const parseRule = createRuleParser("");

/** Parses rules; `home` is the folder for `~`, absolute. @throws SheafError USAGE with the rule and the valid forms. */
export function createRuleParser(home: string): (text: string) => Rule {
  return (text) => {
    const [, kind, body = ""] =
      /^\s*(Shell|Read|Write|WebFetch|Network|PrivateNetwork|Credentials|Mcp)\((.*)\)\s*$/s.exec(text) ?? [];
    const content = body.trim();
    if (kind === undefined) throw createRuleError(text, "is unknown");
    if (content === "") throw createRuleError(text, "is empty");
    if (kind === "Shell") return parseShellRule(text, content);
    if (kind === "Credentials") return parseCredentialRule(text, content);
    if (kind === "Mcp") return parseMcpRule(text, content);
    if (kind === "Read" || kind === "Write") return parseFileRule(text, content, kind, home);
    return parseHostRule(text, content, kind as HostKind);
  };
}

function parseShellRule(text: string, content: string): ShellRule {
  if (content === "*") return { kind: "Shell", text, words: undefined };
  const words = content.split(/[ \t]+/);
  if (plainWords.test(content) && !words[0]!.includes("=")) return { kind: "Shell", text, words };
  const advice =
    "its words are compared one by one with the first words of a command, so it contains no wildcards or quotes";
  throw createRuleError(text, `is not a list of plain words (${advice})`);
}

function parseFileRule(text: string, content: string, kind: FileRule["kind"], home: string): FileRule {
  const glob = parsePathGlob(content, home);
  if (!glob) throw createRuleError(text, "has a glob that is too long");
  const isLeading = /^(?!~?\/)(?:.*[/{,])?\.\.(?:[/},]|$)/.test(content);
  if (isLeading) throw createRuleError(text, 'matches no file, because of its ".." (name the place by "/…" or "~/…")');
  return { kind, text, glob };
}

function parseHostRule(text: string, content: string, kind: HostKind): HostRule<HostKind> {
  if (kind !== "WebFetch" && content.startsWith("@")) {
    const registry = registryNames.find((name) => `@${name}` === content);
    if (registry !== undefined) return { kind, text, host: { isMatch: () => false }, registry };
    throw createRuleError(text, `names no registries (@${registryNames.join(", @")}; for others, the host)`);
  }
  if (kind === "PrivateNetwork" && content === "*") throw createRuleError(text, "opens every private network");
  const host = parseHostPattern(content);
  if (!host) throw createRuleError(text, "names no host (a name alone, such as example.org or *.example.org)");
  return { kind, text, host };
}

function parseCredentialRule(text: string, content: string): CredentialRule {
  const credentials = credentialNames.find((name) => `@${name}` === content);
  if (credentials !== undefined) return { kind: "Credentials", text, credentials };
  throw createRuleError(text, `names no registries whose tokens commands can see (@${credentialNames.join(", @")})`);
}

function parseMcpRule(text: string, content: string): McpRule {
  const [, server, tool] = /^([\w.-]+):([\w./-]+|\*)$/.exec(content) ?? [];
  if (server === undefined) throw createRuleError(text, "names no server and tool (server:tool, or server:*)");
  return { kind: "Mcp", text, server, tool: tool === "*" ? undefined : tool };
}

function createRuleError(text: string, problem: string): SheafError {
  const shown = text === "" ? quoteValue("") : JSON.stringify(text);
  return new SheafError("USAGE", `the rule ${shown} ${problem}: ${forms}`);
}

/** Lists the tokens that the user's rules expose to commands; a deny rule wins. */
export function listCredentials(allow: readonly string[], deny: readonly string[]): CredentialName[] {
  const parse = (texts: readonly string[]): CredentialName[] =>
    texts.map(parseRule).flatMap((rule) => (rule.kind === "Credentials" ? [rule.credentials] : []));
  const denied = parse(deny);
  return parse(allow).filter((name) => !denied.includes(name));
}
