/** A provider on 127.0.0.1 that does the same to every request, in the protocol of the request. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault } from "./faults.ts";
import { findWire, type ToolCall } from "./wires.ts";

export interface FaultyProvider {
  readonly url: string;
  /** When the first request for an answer came, in milliseconds of `performance.now()`. Undefined before. */
  readonly askedAt: number | undefined;
  close(): void;
}

/** `call`: what the model of a fault with calls asks for, once. */
export async function startFaultyProvider(fault: Fault, call?: ToolCall): Promise<FaultyProvider> {
  let left = call;
  let askedAt: number | undefined;
  const server = createServer((request, response) => {
    const wire = request.method === "POST" ? findWire(request.url ?? "") : undefined;
    response.on("error", () => undefined);
    let body = "";
    request.on("data", (chunk: Buffer) => void (body += chunk.toString()));
    request.on("end", () => {
      // Some agents first look whether the server is there.
      if (!wire) return void response.writeHead(request.method === "HEAD" ? 200 : 404).end();
      askedAt ??= performance.now();
      // Requests for a title and the like offer no such tool.
      const isOffered = left !== undefined && body.includes(`"${left.name}"`);
      void fault.answer(wire, response, isOffered ? left : undefined);
      if (isOffered) left = undefined;
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
