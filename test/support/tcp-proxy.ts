/** A connection to a server that a test can cut, freeze, or turn to another server, and that can lose an answer. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface TcpProxy {
  readonly port: number;
  /** Breaks what is open, and every new connection, until it is mended. */
  cut(): void;
  /** What is open says nothing more, and new connections get no answer, until it is mended. */
  freeze(): void;
  mend(): void;
  /** The next requests with this text arrive; each connection is reset when the answer comes, which is lost. */
  loseAnswers(text: string, count: number): void;
  /** Answers that are still to be lost. */
  readonly toLose: number;
}

/** Ends with the test. `findTarget` says where a new connection goes: a port on 127.0.0.1, or the path of a socket. */
export async function startTcpProxy(findTarget: () => number | string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let lost = { text: "", count: 0 };
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
    const target = findTarget();
    const far = typeof target === "string" ? connect(target) : connect(target, "127.0.0.1");
    keep(far);
    let isLost = false;
    near.on("data", (chunk: Buffer) => {
      if (lost.count > 0 && chunk.includes(lost.text)) {
        lost.count -= 1;
        isLost = true;
      }
      far.write(chunk);
    });
    far.on("data", (chunk) => void (isLost ? near.resetAndDestroy() : near.write(chunk)));
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
    loseAnswers(text, count) {
      lost = { text, count };
    },
    get toLose() {
      return lost.count;
    },
  };
}
