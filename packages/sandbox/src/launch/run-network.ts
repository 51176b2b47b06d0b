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
  /** Returns the namespace for a command that starts now. If it is undefined, the command gets an empty namespace. */
  enter(): Promise<RunNetwork | undefined>;
  /** Makes all later commands share one namespace, so that they reach a server in the background. */
  share(): void;
  /** Returns one sentence for each host that the proxy refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/** Creates the network of a run. `bubblewrap` is the program's absolute path. */
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
  /** Descriptors that a command inherits: of the user namespace and of the network namespace. */
  readonly descriptors: readonly [user: number, network: number];
  /** Environment variables by which programs find the proxy; empty without a proxy. */
  readonly variables: Readonly<Record<string, string>>;
  close(): void;
}

/** Port of the proxy. It is always free, because the new namespace has no other program. */
export const proxyPort = 3128;
/** Milliseconds; usually it takes 50. */
const startPeriod = 10_000;
const statusDescriptor = 4;

/** Script of the helper: it listens, then passes the socket to its parent. */
const listener = `
const server = require("node:net").createServer();
server.listen(${proxyPort}, "127.0.0.1", () => process.send("listening", server));
`;

/**
 * Creates the namespace. A helper process creates it and passes its listening socket back; open descriptors preserve
 * the namespace after the helper's end. Bubblewrap gets no option that nests user namespaces: the network must belong
 * to the namespace that commands enter. Without a proxy, the network has no way out.
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
    // The run's end closes the server; it must not keep the process alive.
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

/**
 * Waits for the helper's number, which bubblewrap reports before the helper runs. It reads the later output as well,
 * since bubblewrap would otherwise end by SIGPIPE.
 */
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
  /** Starts the proxy with the first call. Resolves with its port on 127.0.0.1; undefined if no rule allows a host. */
  open(): Promise<number | undefined>;
  /** Returns one sentence for each host that the proxy refused since the last call. */
  takeNotes(): string[];
  close(): Promise<void>;
}

/**
 * Opens the proxy on this machine's own network, for commands without a network namespace. Other programs of the
 * machine can use it as well, and reach the same hosts only.
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
  // The run's end closes the server; it must not keep the process alive.
  return server.unref();
}

/** The proxy's ways to resolve hosts and to connect. */
export type NetworkPorts = Omit<ProxyPorts, "admit">;

/** Creates the proxy for these rules; undefined if no rule allows a host. */
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
