/** A provider on 127.0.0.1 that does the same to every request, in the protocol of the request. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault } from "./faults.ts";
import { findWire } from "./wires.ts";

export interface FaultyProvider {
  readonly url: string;
  /** When the first request for an answer came, in milliseconds of `performance.now()`. Undefined before. */
  readonly askedAt: number | undefined;
  close(): void;
}

export async function startFaultyProvider(fault: Fault): Promise<FaultyProvider> {
  let askedAt: number | undefined;
  const server = createServer((request, response) => {
    const wire = request.method === "POST" ? findWire(request.url ?? "") : undefined;
    response.on("error", () => undefined);
    request.resume().on("end", () => {
      // Some agents first look whether the server is there.
      if (!wire) return void response.writeHead(request.method === "HEAD" ? 200 : 404).end();
      askedAt ??= performance.now();
      void fault.answer(wire, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get askedAt() {
      return askedAt;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
