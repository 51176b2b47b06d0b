/**
 * `sheaf serve`, started cold, with its store on the disk: the first answer, then 100 streams at once, paced as a model
 * writes and as fast as they go. Each response reads a file between two answers. The floor runs the same prompts in bare
 * `node:http` and stores nothing.
 */
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createWords, type Side } from "./support/agent.ts";
import {
  type Bench,
  compare,
  readCpuMicroseconds,
  readPeakMb,
  sheafProgram,
  startNode,
  toQuantile,
  toSupportFile,
  withFolder,
} from "./support/measure.ts";
import { type Answer, type Provider, type Script, startProvider } from "./support/provider.ts";

const streams = 100;
const token = "x".repeat(43);

/** Two answers with a file read between them. */
function createScript(answer: Answer): Script {
  const call = { name: "read_file", args: { target_file: "read.txt" } };
  return (turn) => (turn === 0 ? { ...answer, call } : answer);
}

const single = createScript({ text: createWords(40) });
const paced = createScript({ text: createWords(100), paceMs: 20 });
const flood = createScript({ text: createWords(500) });

export const bench: Bench = async (isQuick) => {
  const provider = await startProvider();
  try {
    return await withFolder((folder) => {
      const workspace = join(folder, "workspace");
      mkdirSync(workspace);
      writeFileSync(join(workspace, "read.txt"), "one\ntwo\nthree\n");
      writeFileSync(join(folder, "token"), `${token}\n`, { mode: 0o600 });
      return compare({
        units: {
          "exec to listening": "ms",
          "first answer": "ms",
          "CPU of a delta, 20 ms apart": "µs",
          "CPU of a delta, as fast as they go": "µs",
          "peak memory": "MB",
          "first delta of 100 responses at once, median": "ms",
        },
        rounds: isQuick ? 1 : 5,
        floor: () => measure("floor", folder, provider),
        sheaf: () => measure("sheaf", folder, provider),
      });
    });
  } finally {
    provider.close();
  }
};

async function measure(side: Side, folder: string, provider: Provider) {
  const home = join(folder, "home");
  rmSync(join(home, "sheaf/sheaf.db"), { force: true });
  const model = ["--model", "openai-compatible/m", "--base-url", provider.url, "--api-key", "none"];
  const words =
    side === "sheaf"
      ? [sheafProgram, "serve", "--port", "0", "--token-file", join(folder, "token"), ...model]
      : [toSupportFile("floor-server.js"), `${provider.url}/chat/completions`];
  const startedAt = performance.now();
  const child = startNode(words, join(folder, "workspace"), home);
  let errors = "";
  child.stderr!.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  try {
    const first: unknown[] = await Promise.race([once(child.stdout!, "data"), once(child, "close")]);
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(first[0]))?.[1]);
    if (Number.isNaN(port)) throw new Error(`${side} does not listen: ${errors}`);
    const listeningAt = performance.now();
    provider.play(single);
    await readStream(port);
    const firstAt = performance.now();
    const readAll = async (script: Script): Promise<{ readonly cpu: number; readonly firstMs: number }> => {
      provider.play(script);
      const before = readCpuMicroseconds(child.pid!);
      const read = await Promise.all(Array.from({ length: streams }, () => readStream(port)));
      const deltas = read.reduce((sum, { count }) => sum + count, 0);
      const firstMs = toQuantile(
        read.map((each) => each.firstMs),
        0.5,
      );
      return { cpu: (readCpuMicroseconds(child.pid!) - before) / deltas, firstMs };
    };
    return {
      "exec to listening": listeningAt - startedAt,
      "first answer": firstAt - listeningAt,
      "CPU of a delta, 20 ms apart": (await readAll(paced)).cpu,
      "CPU of a delta, as fast as they go": (await readAll(flood)).cpu,
      "peak memory": readPeakMb(child.pid!),
      // Of a server that has worked for a while.
      "first delta of 100 responses at once, median": (await readAll(paced)).firstMs,
    };
  } finally {
    const closed = child.exitCode === null ? once(child, "close") : undefined;
    child.kill("SIGTERM");
    await closed;
  }
}

const deltaName = Buffer.from("event: content_delta\n");
const endName = Buffer.from("event: done\n");

/** Reads one response on a raw socket, which costs little: its deltas, and when the first one came. */
function readStream(port: number): Promise<{ readonly count: number; readonly firstMs: number }> {
  const startedAt = performance.now();
  let firstMs = 0;
  const body = '{"message":"go","stream":true}';
  const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let rest: Buffer = Buffer.alloc(0);
    let count = 0;
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed a stream before its end")));
    socket.on("data", (chunk: Buffer) => {
      const bytes = Buffer.concat([rest, chunk]);
      let last = 0;
      for (let index = bytes.indexOf(deltaName); index >= 0; index = bytes.indexOf(deltaName, last)) {
        if (count === 0) firstMs = performance.now() - startedAt;
        count += 1;
        last = index + deltaName.length;
      }
      // A name may be cut in two.
      rest = bytes.subarray(Math.max(last, bytes.length - deltaName.length));
      if (!bytes.includes(endName)) return;
      resolve({ count, firstMs });
      socket.destroy();
    });
    socket.write(`POST /v1/chat HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  });
}
