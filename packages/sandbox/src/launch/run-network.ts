/**
 * The network that commands reach: a proxy to the hosts that rules allow (S-32). On Linux the commands of a run share a
 * network namespace, which contains only this proxy and the servers that the commands themselves start.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Readable } from "node:stream";
import { createProxy, type Proxy, type ProxyPorts } from "./proxy.ts";
import type { CommandNetwork } from "@sheaf/base/command-network";
import { toProxyVariables } from "../environment.ts";

export interface SharedNetwork {
  /** The namespace for a command that starts now; undefined: the command gets an empty namespace. */
  enter(): Promise<RunNetwork | undefined>;
  /** From now on all commands share one namespace, so that later commands reach a server in the background. */
  share(): void;
  /** One sentence for each host that was refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/** `bubblewrap`: the program, absolute. */
export function createSharedNetwork(bubblewrap: string, rules: CommandNetwork, ports?: NetworkPorts): SharedNetwork {
  const proxy = createRuleProxy(rules, ports);
  let isShared = rules.isOpen;
  let opening: Promise<RunNetwork> | undefined;
  return {
    async enter() {
      if (!isShared) return undefined;
      opening ??= openRunNetwork(bubblewrap, proxy);
      return opening;
    },
    share() {
      isShared = true;
    },
    takeNotes: () => proxy?.takeNotes() ?? [],
    async close() {
      const network = await opening?.catch(() => undefined);
      network?.close();
    },
  };
}

/** A namespace that commands can enter. */
export interface RunNetwork {
  /** Descriptors for a command to inherit: of the user and of the network namespace. */
  readonly descriptors: readonly [user: number, network: number];
  /** Environment variables by which programs find the proxy; empty without a proxy. */
  readonly variables: Readonly<Record<string, string>>;
  close(): void;
}

/** Free: nothing else listens in the new namespace. */
export const proxyPort = 3128;
/** Milliseconds; usually it takes 50. */
const startPeriod = 10_000;
const statusDescriptor = 4;

/** Listens, then passes the socket to its parent. */
const listener = `
const server = require("node:net").createServer();
server.listen(${proxyPort}, "127.0.0.1", () => process.send("listening", server));
`;

/**
 * Creates the namespace. A helper process creates it and passes its listening socket back; open descriptors keep the
 * namespace after the helper has ended. Bubblewrap gets no option that nests user namespaces: the network must belong to
 * the one that commands enter. Without a proxy it has no way out.
 * @throws Error when the system forbids it.
 */
async function openRunNetwork(bubblewrap: string, proxy: Proxy | undefined): Promise<RunNetwork> {
  const words = [
    "--unshare-user", "--unshare-net", "--die-with-parent", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev",
    "--json-status-fd", String(statusDescriptor), "--", process.execPath, "-e", listener,
  ]; // prettier-ignore
  const helper = spawn(bubblewrap, words, {
    cwd: "/",
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc", "pipe"],
  });
  try {
    const [server, pid] = await Promise.all([receiveServer(helper), receiveHelperPid(helper)]);
    const descriptors = [openSync(`/proc/${pid}/ns/user`, "r"), openSync(`/proc/${pid}/ns/net`, "r")] as const;
    if (proxy) server.on("connection", (socket) => proxy.serve(socket));
    // The run's end closes it; it must not keep the process.
    server.unref();
    return {
      descriptors,
      variables: proxy ? toProxyVariables(proxyPort) : {},
      close() {
        server.close();
        proxy?.close();
        for (const descriptor of descriptors) closeSync(descriptor);
      },
    };
  } finally {
    helper.kill("SIGKILL");
  }
}

function receiveServer(helper: ChildProcess): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const timer = setTimeout(() => reject(new Error("its helper is silent")), startPeriod);
  helper.once("error", reject);
  helper.once("exit", (code, signal) => reject(new Error(`its helper ended with ${code ?? signal}`)));
  helper.once("message", (_message, handle) => resolve(handle as Server));
  return promise.finally(() => clearTimeout(timer));
}

/** Bubblewrap reports it before the helper runs. Its later output is read too, or it would end by SIGPIPE. */
function receiveHelperPid(helper: ChildProcess): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let text = "";
  (helper.stdio[statusDescriptor] as Readable).on("data", (chunk: Uint8Array) => {
    text += Buffer.from(chunk).toString("latin1");
    const [, pid] = /"child-pid": (\d+)/.exec(text) ?? [];
    if (pid !== undefined) resolve(Number(pid));
  });
  return promise;
}

export interface LoopbackProxy {
  /** Starts the proxy with the first call: its port on 127.0.0.1, undefined where no rule allows a host. */
  open(): Promise<number | undefined>;
  /** One sentence for each host that was refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/**
 * The proxy on this machine's own network, for commands without a network namespace. Other programs of the machine reach
 * it too, and through it the same hosts only.
 */
export function createLoopbackProxy(rules: CommandNetwork, ports?: NetworkPorts): LoopbackProxy {
  const proxy = createRuleProxy(rules, ports);
  let opening: Promise<Server> | undefined;
  return {
    async open() {
      if (!proxy) return undefined;
      opening ??= listen(createServer((socket) => proxy.serve(socket)));
      return ((await opening).address() as AddressInfo).port;
    },
    takeNotes: () => proxy?.takeNotes() ?? [],
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

/** What the proxy needs from its surroundings. */
export type NetworkPorts = Omit<ProxyPorts, "admit">;

/** Undefined where no rule allows a host. */
function createRuleProxy(rules: CommandNetwork, ports: NetworkPorts = {}): Proxy | undefined {
  if (!rules.isOpen) return undefined;
  return createProxy({
    ...ports,
    async admit(host) {
      const { decision, reason, mayBePrivate } = await rules.decide(host);
      return { obstacle: decision === "allow" ? "" : reason, mayBePrivate: mayBePrivate ?? false };
    },
  });
}
