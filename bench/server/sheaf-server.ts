/** Sheaf's server with durable storage, and a model in the same process that stamps its deltas. Words: a workload. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelEvent } from "@sheaf/protocol";
import type { Model } from "../../packages/agent/src/model/provider.ts";
import { defaultOwnerLimits } from "../../packages/agent/src/server/limits.ts";
import { serve } from "../../packages/agent/src/server/serve.ts";
import { createServerModels } from "../../packages/agent/src/server/server-models.ts";
import { createThreadedSqliteStore } from "../../packages/agent/src/store/threaded-sqlite.ts";
import { createDelta, parseWorkload } from "./workload.ts";

const { deltas, group, paceMs } = parseWorkload(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "sheaf-bench-server-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit());

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
const model: Model = {
  id: "bench",
  name: "bench",
  apiKeySource: "none",
  async *stream() {
    for (let sent = 0; sent < deltas; sent += group) {
      if (paceMs > 0) await sleep(paceMs);
      const events: ModelEvent[] = [];
      for (let index = 0; index < group; index += 1) events.push({ type: "text_delta", text: createDelta() });
      yield events;
    }
    yield [{ type: "turn_end", finishReason: "stop", rawFinishReason: "", usage, modelMs: 0 }];
  },
};

const server = await serve({
  settings: {
    workspaces: new Map([["bench", folder]]),
    defaultMode: "agent",
    limits: {},
    timeoutMs: undefined,
    permissions: { force: false, allow: [], deny: [] },
    sandbox: "disabled",
    stopsOnDenied: false,
    addedFolders: [],
    isTrusted: () => false,
    dataFolder: undefined,
    environment: {},
    mcpServers: {},
    wire: { heartbeatMs: 15_000 },
  },
  models: createServerModels(
    ["bench"],
    async () => ({ model, price: undefined }),
    (_, error) => {
      throw error;
    },
  ),
  store: createThreadedSqliteStore(join(folder, "sheaf.db")),
  tokens: [{ token: "x".repeat(43), owner: "local" }],
  ownerLimits: defaultOwnerLimits,
  pageFolder: folder,
  host: "127.0.0.1",
  port: 0,
  allowedHosts: [],
  now: () => Math.round(performance.timeOrigin + performance.now()),
  log: () => undefined,
});
process.stdout.write(`${new URL(server.address).port}\n`);
