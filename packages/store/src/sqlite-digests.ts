/** Digests of logs as columns of their responses. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { RunEvent } from "@sheaf/protocol";
import { digestLog, type LogDigest } from "./log-digest.ts";

interface Prepares {
  prepare(sql: string): StatementSync;
}

/** Digests a log that has ended and is settled. A damaged log keeps its empty digest. */
export function storeDigest(database: Prepares, response: number): void {
  const sql = "SELECT events FROM event_groups WHERE response = ? ORDER BY first_seq";
  let digest: LogDigest;
  try {
    const groups = database.prepare(sql).all(response) as { events: string }[];
    digest = digestLog(groups.flatMap(({ events }) => JSON.parse(events) as RunEvent[]));
  } catch {
    // The response of a damaged log must end as well.
    return;
  }
  const { promptTokens, completionTokens, costUsd = null, answer } = digest;
  database
    .prepare("UPDATE responses SET prompt_tokens = ?, completion_tokens = ?, cost_usd = ?, answer = ? WHERE key = ?")
    .run(promptTokens, completionTokens, costUsd, answer, response);
}

/** Digests all logs of a store that was written before there were digests. */
export function storeAllDigests(database: DatabaseSync): void {
  for (const { key } of database.prepare("SELECT key FROM responses WHERE ended = 1").all()) {
    storeDigest(database, key as number);
  }
}
