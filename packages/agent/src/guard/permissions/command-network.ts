/** Which hosts commands may reach: none, unless a rule `Network(domain)` names them (S-32). */
import { allowByRule, deny, type PermissionDecision } from "./decision.ts";
import { parseRule } from "./rule.ts";

export interface CommandNetwork {
  /** Whether any rule opens a host; if none does, commands have no network at all. */
  readonly isOpen: boolean;
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
}): CommandNetwork {
  const allows = rules.allow.map(parseRule).filter((rule) => rule.kind === "Network");
  const denies = rules.deny.map(parseRule).filter((rule) => rule.kind === "Network");
  return {
    isOpen: allows.length > 0,
    decide(host) {
      const denied = denies.find((rule) => rule.host.isMatch(host));
      if (denied) return deny(`the rule ${denied.text} denies it`, denied.text);
      const allowed = allows.find((rule) => rule.host.isMatch(host));
      if (allowed) return allowByRule(allowed.text);
      return deny(`no rule allows it, the user passes --allow ${JSON.stringify(`Network(${host})`)}`);
    },
  };
}
