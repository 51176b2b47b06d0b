/** A connection to a server that a test can cut, freeze, or turn to another server. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface TcpProxy {
  readonly port: number;
  /** Breaks what is open, and every new connection, until it is mended. */
  cut(): void;
  /** What is open says nothing more, and new connections get no answer, until it is mended. */
  freeze(): void;
  mend(): void;
}

/** Ends with the test. `findPort` says where a new connection goes. */
export async function startTcpProxy(findPort: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: "open" | "cut" | "frozen" = "open";
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    if (state === "frozen") socket.pause();
  };
  const server = createServer((near) => {
    keep(near);
    if (state === "cut") return void near.destroy();
    const far = connect(findPort(), "127.0.0.1");
    keep(far);
    near.on("data", (chunk) => void far.write(chunk));
    far.on("data", (chunk) => void near.write(chunk));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    destroyAll();
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = "cut";
      destroyAll();
    },
    freeze() {
      state = "frozen";
      for (const socket of sockets) socket.pause();
    },
    mend() {
      state = "open";
      for (const socket of sockets) socket.resume();
    },
  };
}
