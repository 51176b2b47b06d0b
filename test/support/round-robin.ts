/** A load balancer for tests: each request goes to the next server, whatever the one before was. */
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Ends with the test. `counts`: requests by server. */
export async function startRoundRobin(
  ports: readonly number[],
): Promise<{ readonly address: string; readonly counts: readonly number[] }> {
  const counts = ports.map(() => 0);
  let turn = 0;
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const index = turn % ports.length;
    turn += 1;
    counts[index]! += 1;
    const { method, url, rawHeaders } = incoming;
    const headers = [...rawHeaders];
    for (let at = 0; at < headers.length; at += 2) {
      if (headers[at]!.toLowerCase() === "host") headers[at + 1] = `127.0.0.1:${ports[index]}`;
    }
    const passed = request({ host: "127.0.0.1", port: ports[index], method, path: url, headers, agent: false });
    passed.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on("aborted", () => outgoing.destroy());
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts };
}
