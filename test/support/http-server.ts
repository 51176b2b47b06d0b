/** Servers of HTTP that tests write themselves. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Answers requests on a free port of this machine, until the test ends. Gives `http://127.0.0.1:PORT`. */
export async function serveHttp(
  answer: RequestListener,
  onEnd: (end: () => void) => void = onTestFinished,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}
