/** The network namespace of a run, made when a command needs one that others have too. */
import { createProxy, type ProxyPorts } from "../network/proxy.ts";
import type { CommandNetwork } from "../permissions/command-network.ts";
import { openRunNetwork, type RunNetwork } from "./run-network.ts";

export interface SharedNetwork {
  /** The namespace for a command that starts now; undefined: an empty one of its own. */
  enter(): Promise<RunNetwork | undefined>;
  /** From now on all commands are in one: a server in the background is reached by the commands behind it. */
  share(): void;
  /** Sentences about the hosts that were refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/** What the proxy of a network stands on. */
export type NetworkPorts = Omit<ProxyPorts, "findObstacle">;

/** `bubblewrap`: the program, absolute. */
export function createSharedNetwork(
  bubblewrap: string,
  rules: CommandNetwork,
  ports: NetworkPorts = {},
): SharedNetwork {
  const proxy = rules.isOpen ? createProxy({ ...ports, findObstacle: (host) => findObstacle(rules, host) }) : undefined;
  let isShared = rules.isOpen;
  let opening: Promise<RunNetwork> | undefined;
  return {
    async enter() {
      if (!isShared) return undefined;
      opening ??= openRunNetwork({ bubblewrap, proxy });
      return opening;
    },
    share() {
      isShared = true;
    },
    takeNotes: () =>
      (proxy?.takeRefusals() ?? []).map(({ target, reason }) => `The network refused ${target}: ${reason}.`),
    async close() {
      const network = await opening?.catch(() => undefined);
      network?.close();
    },
  };
}

function findObstacle(rules: CommandNetwork, host: string): string {
  const decision = rules.decide(host);
  return decision.decision === "allow" ? "" : decision.reason;
}
