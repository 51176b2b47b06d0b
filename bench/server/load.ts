/** Many readers on raw sockets, as light as they can be, so that the server is what is measured. */
import { connect } from "node:net";
import { now } from "./workload.ts";

export interface LoadResult {
  /** Seconds from the first request to the last byte. */
  readonly seconds: number;
  readonly deltas: number;
  /** Milliseconds on the way, of each delta that was looked at, in order. */
  readonly delays: readonly number[];
}

const request = (port: number): string => {
  const body = '{"message":"go","stream":true}';
  return `POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${"x".repeat(43)}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

/** `isTimed`: every delta is looked at; else they are only counted. */
export async function runLoad(port: number, streams: number, isTimed: boolean): Promise<LoadResult> {
  const delays: number[] = [];
  const startedAt = now();
  const counts = await Promise.all(
    Array.from({ length: streams }, () => readStream(port, isTimed ? delays : undefined)),
  );
  const seconds = (now() - startedAt) / 1000;
  return { seconds, deltas: counts.reduce((sum, count) => sum + count, 0), delays: delays.toSorted((a, b) => a - b) };
}

const name = Buffer.from("event: content_delta\n");
const end = Buffer.from("event: done\n");

/** Gives the number of deltas. */
function readStream(port: number, delays: number[] | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let rest: Buffer = Buffer.alloc(0);
    let count = 0;
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a stream broke off")));
    socket.on("data", (chunk: Buffer) => {
      const arrivedAt = delays && now();
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let index = bytes.indexOf(name);
      let last = 0;
      while (index !== -1) {
        count += 1;
        last = index + name.length;
        index = bytes.indexOf(name, last);
      }
      if (delays)
        for (const [, time] of chunk.toString("latin1").matchAll(/"delta":"[ x]*@([\d.]+)@/g))
          delays.push(arrivedAt! - Number(time));
      // A name may be cut in two.
      rest = bytes.subarray(Math.max(last, bytes.length - name.length));
      if (bytes.indexOf(end) === -1) return;
      resolve(count);
      socket.destroy();
    });
    socket.write(request(port));
  });
}
