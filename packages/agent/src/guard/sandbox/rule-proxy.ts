/** The proxy to the hosts that the user's rules allow, and what it refused (S-32). */
import { createProxy, type Proxy, type ProxyPorts } from "../../network/proxy.ts";
import type { CommandNetwork } from "../permissions/command-network.ts";

/** What the proxy of a network stands on. */
export type NetworkPorts = Omit<ProxyPorts, "findObstacle">;

export interface RuleProxy {
  /** Undefined where no rule allows a host. */
  readonly proxy: Proxy | undefined;
  /** Sentences about the hosts that were refused since the last call. */
  readonly takeNotes: () => string[];
}

export function createRuleProxy(rules: CommandNetwork, ports: NetworkPorts = {}): RuleProxy {
  const proxy = rules.isOpen ? createProxy({ ...ports, findObstacle: (host) => findObstacle(rules, host) }) : undefined;
  return {
    proxy,
    takeNotes: () =>
      (proxy?.takeRefusals() ?? []).map(({ target, reason }) => `The network refused ${target}: ${reason}.`),
  };
}

function findObstacle(rules: CommandNetwork, host: string): string {
  const decision = rules.decide(host);
  return decision.decision === "allow" ? "" : decision.reason;
}
