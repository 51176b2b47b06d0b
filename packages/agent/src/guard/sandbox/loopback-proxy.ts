/** The proxy of a run on this machine's own network, for commands that have no network namespace. */
import { type AddressInfo, createServer, type Server } from "node:net";
import type { CommandNetwork } from "../permissions/command-network.ts";
import { createRuleProxy, type NetworkPorts } from "./rule-proxy.ts";

export interface LoopbackProxy {
  /** Its port on 127.0.0.1, from the first call on; undefined where no rule allows a host. */
  open(): Promise<number | undefined>;
  /** Sentences about the hosts that were refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/** Other programs of this machine reach it too: it lets them to the same hosts and no others. */
export function createLoopbackProxy(rules: CommandNetwork, ports?: NetworkPorts): LoopbackProxy {
  const { proxy, takeNotes } = createRuleProxy(rules, ports);
  let opening: Promise<Server> | undefined;
  return {
    async open() {
      if (!proxy) return undefined;
      opening ??= listen(createServer((socket) => proxy.serve(socket)));
      return ((await opening).address() as AddressInfo).port;
    },
    takeNotes,
    async close() {
      const server = await opening?.catch(() => undefined);
      server?.close();
      proxy?.close();
    },
  };
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  // The run's end closes it; it must not keep the process.
  return server.unref();
}
