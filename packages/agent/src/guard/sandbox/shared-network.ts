/** The network namespace of a run, made when a command needs one that others have too. */
import type { CommandNetwork } from "../permissions/command-network.ts";
import { createRuleProxy, type NetworkPorts } from "./rule-proxy.ts";
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

/** `bubblewrap`: the program, absolute. */
export function createSharedNetwork(bubblewrap: string, rules: CommandNetwork, ports?: NetworkPorts): SharedNetwork {
  const { proxy, takeNotes } = createRuleProxy(rules, ports);
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
    takeNotes,
    async close() {
      const network = await opening?.catch(() => undefined);
      network?.close();
    },
  };
}
