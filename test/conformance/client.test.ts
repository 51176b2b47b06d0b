/** The client library at the built server: what a connection, a proxy or a dying server does to a stream. */
import type { StreamEvent } from "@sheaf/protocol";
import { createClient, type SheafClient } from "@sheaf/client";
import { verifyUpdates } from "@sheaf/client/verify";
import { expect, test } from "vitest";
import { startServerProcess, type TestServer } from "../support/server.ts";
import { verifies } from "../support/verifies.ts";

const waiting = { turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }], after: "loop" };

const toClient = ({ address, token }: TestServer): SheafClient =>
  createClient({ baseUrl: address, token, reconnect: { delayMs: 50, maxDelayMs: 200, maxTries: 100 } });

test(
  verifies(["N51", "X2", "R-01", "X13"], "a stream goes on over a server that is killed and comes back"),
  async () => {
    const first = await startServerProcess({ script: waiting });
    const stream = toClient(first).chat({ message: "go" });
    const seen: StreamEvent[] = [];
    for await (const { event } of verifyUpdates(stream, { requireExtensions: true })) {
      seen.push(event);
      if (event.event !== "content_delta" || event.data.delta !== "Begun.") continue;
      await first.stop("SIGKILL");
      await startServerProcess({ cwd: first.cwd, script: waiting, args: ["--port", `${first.port}`] });
    }
    expect(stream.response.status).toBe("error");
    expect(stream.response.documents.map(({ type, status }) => [type, status])).toEqual([
      ["text", undefined],
      ["error", undefined],
    ]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  },
);
