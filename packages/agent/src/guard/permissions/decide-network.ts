/** Which hosts tools and commands may reach, and which tools of MCP servers may run: none unless a rule or a person allows it. */
import { isIP } from "node:net";
import { toHost } from "../../base/host-pattern.ts";
import { isPublicAddress } from "../../base/public-address.ts";
import { allowByRule, ask, deny, type PermissionDecision } from "./decision.ts";
import { parseRule, type Rule, type Rules } from "./rule.ts";

/** A web address. `--force` is about commands and opens no network. */
export function decideUrl(address: unknown, { allows, denies }: Rules): PermissionDecision {
  const host = typeof address === "string" ? toHost(address) : undefined;
  if (host === undefined) {
    return deny("this is not a plain http or https address: write one without user name, password or escaped host");
  }
  if (isNeverPublic(host)) {
    return deny(`${host} is not a public host: web_fetch reaches public hosts only, whatever the rules say`);
  }
  const isAbout = (rule: Rule): boolean => rule.kind === "WebFetch" && rule.host.isMatch(host);
  const denied = denies.find(isAbout);
  if (denied) return deny(`the rule ${denied.text} denies ${host}: do without it, or tell the user`, denied.text);
  const allowed = allows.find(isAbout);
  if (allowed) return allowByRule(allowed.text);
  const rule = `WebFetch(${host})`;
  return ask(`${host} needs a permission`, `the user passes --allow ${JSON.stringify(rule)}`, [rule]);
}

/** Whether the name alone shows it. Other names are checked when they are resolved. */
function isNeverPublic(host: string): boolean {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  return isIP(literal) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(literal);
}

/** A tool of an MCP server, by the names that the user gave. */
export function decideMcp(server: string, tool: string, { allows, denies }: Rules): PermissionDecision {
  const isAbout = (rule: Rule): boolean =>
    rule.kind === "Mcp" && rule.server === server && (rule.tool === undefined || rule.tool === tool);
  const denied = denies.find(isAbout);
  if (denied) return deny(`the rule ${denied.text} denies this tool: do without it, or tell the user`, denied.text);
  const allowed = allows.find(isAbout);
  if (allowed) return allowByRule(allowed.text);
  const name = `${server}:${tool}`;
  const rule = /^[\w.-]+:[\w./-]+$/.test(name) ? `Mcp(${name})` : undefined;
  const advice = rule === undefined ? undefined : `the user passes --allow ${JSON.stringify(rule)}`;
  return ask(`the tool ${JSON.stringify(name)} needs a permission`, advice, rule === undefined ? [] : [rule]);
}

export interface CommandNetwork {
  /** Whether any rule opens a host; if none does, commands have no network at all. */
  readonly isOpen: boolean;
  /** Whether commands may reach a registry of a language: by its own rule, or perhaps by one for a host. */
  readonly mayDownload: (registry: string) => boolean;
  /** `host`: as `toHost` gives it. */
  decide(host: string): PermissionDecision;
}

/**
 * The rules about hosts for commands. A command can send what it has read, so a page that may be fetched (`WebFetch`) is
 * no host that commands may reach.
 * @throws SheafError USAGE for a rule that cannot be read.
 */
export function createCommandNetwork(rules: {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Further rules that allow: the hosts of rules about registries. */
  readonly registryHosts?: readonly string[];
}): CommandNetwork {
  const parse = (texts: readonly string[]) => texts.map(parseRule).filter((rule) => rule.kind === "Network");
  const named = parse(rules.allow);
  const allows = [...named, ...parse(rules.registryHosts ?? [])];
  const denies = parse(rules.deny);
  return {
    isOpen: allows.length > 0,
    mayDownload: (registry) => named.some((rule) => (rule.registry ?? registry) === registry),
    decide(host) {
      const denied = denies.find((rule) => rule.host.isMatch(host));
      if (denied) return deny(`the rule ${denied.text} denies it`, denied.text);
      const allowed = allows.find((rule) => rule.host.isMatch(host));
      if (allowed) return allowByRule(allowed.text);
      return deny(`no rule allows it, the user passes --allow ${JSON.stringify(`Network(${host})`)}`);
    },
  };
}
