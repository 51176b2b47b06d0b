/** The floor: bare `node:http` that sends the same events, and keeps nothing. Words: a workload. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { createDelta, parseWorkload } from "./workload.ts";

const { deltas, group, paceMs } = parseWorkload(process.argv.slice(2));

const server = createServer((request, response) => {
  request.resume();
  void (async () => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    let id = 0;
    while (id < deltas) {
      if (paceMs > 0) await sleep(paceMs);
      else await nextTurn();
      let frames = "";
      for (let index = 0; index < group; index += 1) {
        id += 1;
        frames += `id: ${id}\nevent: content_delta\ndata: ${JSON.stringify({ documentId: "doc_001", delta: createDelta() })}\n\n`;
      }
      if (!response.write(frames)) await once(response, "drain");
    }
    response.end(`id: ${id + 1}\nevent: done\ndata: {}\n\n`);
  })();
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
