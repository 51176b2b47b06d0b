/**
 * A network namespace that the commands of a run share: an empty one, with a proxy to the hosts that rules allow, and
 * with whatever servers the run's commands in the background have. A helper makes it and hands out its listening socket;
 * then nothing of it runs any more, and open descriptors keep the namespace.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Server } from "node:net";
import type { Readable } from "node:stream";
import type { Proxy } from "../../network/proxy.ts";
import { toProxyVariables } from "./proxy-variables.ts";

/** The namespace, ready for commands. */
export interface RunNetwork {
  /** Descriptors that a command is started with: of the user and of the network namespace. */
  readonly descriptors: readonly [user: number, network: number];
  /** What commands are told, so that programs find the proxy; empty without one. */
  readonly variables: Readonly<Record<string, string>>;
  close(): void;
}

export interface RunNetworkOptions {
  /** Absolute. */
  readonly bubblewrap: string;
  /** What reaches the network; undefined: nothing does. */
  readonly proxy?: Proxy | undefined;
}

/** In a namespace where nobody else listens. */
const proxyPort = 3128;
/** Milliseconds; it takes 50. */
const startPeriod = 10_000;
const statusDescriptor = 4;

/** Listens and hands the socket to its parent. */
const listener = `
const server = require("node:net").createServer();
server.listen(${proxyPort}, "127.0.0.1", () => process.send("listening", server));
`;

/**
 * Makes the namespace. Bubblewrap is told nothing that makes it nest user namespaces: the network must belong to the
 * one that commands enter.
 * @throws Error when the system does not let it be made.
 */
export async function openRunNetwork({ bubblewrap, proxy }: RunNetworkOptions): Promise<RunNetwork> {
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

/** Bubblewrap tells it before the helper runs; what it writes behind that is read too, else it ends by a signal. */
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
