/** Decides about hosts for tools and commands, and about tools of MCP servers: a rule or a person must allow each. */
import { isIP } from "node:net";
import type { CommandNetwork, FindRegistryHosts } from "@sheaf/base/command-network";
import { toHost } from "@sheaf/base/host-pattern";
import { isPublicAddress } from "@sheaf/base/public-address";
import { allowByRule, ask, deny, type PermissionDecision } from "./decision.ts";
import { type NetworkRule, parseRule, type Rule, type Rules } from "./rule.ts";

/** Decides about a web address. `--force` applies to commands, and opens no network. */
export function decideUrl(address: unknown, { allows, denies }: Rules): PermissionDecision {
  const host = typeof address === "string" ? toHost(address) : undefined;
  if (host === undefined) {
    return deny("this is not a plain http or https address: write one without user name, password or escaped host");
  }
  if (isNeverPublic(host)) {
    return deny(`${host} is not a public host: web_fetch reaches public hosts only, whatever the rules say`);
  }
  const isAbout = (rule: Rule): boolean => rule.kind === "WebFetch" && rule.host.isMatch(host);
  return decideByName(host, host, `WebFetch(${host})`, { isAbout, allows, denies });
}

/** Decides by the first rule that denies a name, or else allows it. Without a rule, a person decides. */
function decideByName(
  name: string,
  shown: string,
  suggested: string | undefined,
  { isAbout, allows, denies }: Rules & { readonly isAbout: (rule: Rule) => boolean },
): PermissionDecision {
  const denied = denies.find(isAbout);
  if (denied) return deny(`the rule ${denied.text} denies ${shown}: do without it, or tell the user`, denied.text);
  const allowed = allows.find(isAbout);
  if (allowed) return allowByRule(allowed.text);
  const advice = suggested && `the user passes --allow ${JSON.stringify(suggested)}`;
  const why = { reason: `${shown} needs a permission`, cause: { code: "no_rule", value: name } } as const;
  return ask(why, advice, suggested === undefined ? [] : [suggested]);
}

/** True if the name alone shows it. Other names are checked when the system resolves them. */
function isNeverPublic(host: string): boolean {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  return isIP(literal) === 0 ? /(^|\.)localhost$/.test(host) : !isPublicAddress(literal);
}

/** Decides about a tool of an MCP server, by the names that the user gave. */
export function decideMcp(server: string, tool: string, { allows, denies }: Rules): PermissionDecision {
  const isAbout = (rule: Rule): boolean =>
    rule.kind === "Mcp" && rule.server === server && (rule.tool === undefined || rule.tool === tool);
  const name = `${server}:${tool}`;
  const rule = /^[\w.-]+:[\w./-]+$/.test(name) ? `Mcp(${name})` : undefined;
  return decideByName(name, `the tool ${JSON.stringify(name)}`, rule, { isAbout, allows, denies });
}

/**
 * Creates the network rules of commands. A command can send any text that it has read, so a rule for pages (`WebFetch`)
 * does not open a host to commands. The finder of registries runs only if no other rule decides (S-98).
 * @throws SheafError USAGE for a rule that cannot be read.
 */
export function createCommandNetwork(rules: {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Finds hosts of registries. Default: rules about registries open no hosts. */
  readonly findRegistryHosts?: FindRegistryHosts;
}): CommandNetwork {
  const { findRegistryHosts = async () => [] } = rules;
  const [allows, denies] = [parseNetworkRules(rules.allow), parseNetworkRules(rules.deny)];
  const isAbout = async (rule: NetworkRule, host: string): Promise<boolean | string> => {
    if (!rule.registry) return rule.host.isMatch(host);
    const hosts = await findRegistryHosts(rule.registry, denies.includes(rule));
    return typeof hosts === "string" ? hosts : hosts.includes(host);
  };
  return {
    isOpen: allows.length > 0,
    mayDownload: (registry) => allows.some((rule) => (rule.registry ?? registry) === registry),
    async decide(host) {
      for (const rule of denies) {
        const isDenied = await isAbout(rule, host);
        if (typeof isDenied === "string") return deny(isDenied, rule.text);
        if (isDenied) return deny(`the rule ${rule.text} denies it`, rule.text);
      }
      let problem = `no rule allows it, the user passes --allow ${JSON.stringify(`Network(${host})`)}`;
      for (const rule of allows) {
        const isAllowed = await isAbout(rule, host);
        if (isAllowed === true) return { ...allowByRule(rule.text), mayBePrivate: rule.kind === "PrivateNetwork" };
        if (typeof isAllowed === "string") problem = isAllowed;
      }
      return deny(problem);
    },
  };
}

/** Parses rules, the wider ones first. Registries, which take time, follow hosts. */
function parseNetworkRules(texts: readonly string[]): NetworkRule[] {
  const toRank = ({ kind, registry }: NetworkRule): number => (kind === "Network" ? 2 : 0) + (registry ? 1 : 0);
  return texts
    .map(parseRule)
    .filter((rule): rule is NetworkRule => rule.kind === "Network" || rule.kind === "PrivateNetwork")
    .toSorted((a, b) => toRank(a) - toRank(b));
}
