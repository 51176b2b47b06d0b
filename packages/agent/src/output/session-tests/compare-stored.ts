/** Two stored conversations side by side (C198). */
import type { ConversationComparison } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import type { TextMask } from "@sheaf/base/text-mask";
import { digestLog } from "@sheaf/store/log-digest";
import type { ConversationRecord, SharedStore } from "@sheaf/store/store";
import { type LoggedResponse, readEndedLogs } from "../../run/conversations/end-cut-response.ts";
import { listChangedFiles, readSessionStates, type SessionPlace } from "../../workspace/undo/session-states.ts";
import { maskLog } from "../event-mask.ts";
import { type ComparedSession, findParting } from "./compare-sessions.ts";
import { toTestResponse } from "./to-test-responses.ts";

export interface ComparisonPorts {
  readonly store: SharedStore;
  readonly dataFolder: string | undefined;
  readonly environment: Environment;
  readonly mask: TextMask;
  readonly now: () => number;
  /** Returns the changed files of a conversation in a workspace from git; undefined in another one. */
  readonly readTree?: (record: ConversationRecord) => Promise<Session["files"] | undefined>;
}

type Row = ConversationComparison["conversations"][number];

interface Session extends ComparedSession {
  readonly row: Row;
  /** The id of each changed file's content at the end; null for a deleted file. */
  readonly files: ReadonlyMap<string, string | null>;
}

/** Compares two sessions, apart from times, ids and paths, without changing them. @throws CONVERSATION_BUSY, STORAGE_…. */
export async function compareStored(
  ids: readonly [string, string],
  ports: ComparisonPorts,
): Promise<ConversationComparison> {
  const one = await readSession(ids[0], ports);
  const other = await readSession(ids[1], ports);
  const parting = findParting(one, other);
  const paths = [...new Set([...one.files.keys(), ...other.files.keys()])].toSorted();
  const files = paths.filter((path) => one.files.get(path) !== other.files.get(path));
  return { conversations: [one.row, other.row], ...(parting && { parting }), files };
}

async function readSession(
  id: string,
  { store, dataFolder, environment, mask, now, readTree }: ComparisonPorts,
): Promise<Session> {
  const record = (await store.getConversation(id))!;
  const { workspace } = record;
  const logs: LoggedResponse[] = [];
  for await (const log of readEndedLogs(store, id, now))
    logs.push({ ...log, events: maskLog(log.events, { mask, masksEdits: true }) });
  const responses = logs.map(({ events }) => toTestResponse(events));
  const responseIds = logs.map((log) => log.id);
  const files =
    (await readTree?.(record)) ??
    (dataFolder === undefined
      ? new Map<string, string | null>()
      : await readOwnStates({ conversationId: id, responseIds, workspace, dataFolder, environment }));
  return { workspace, responses, files, row: toRow(id, logs, responses.at(-1)?.end ?? "completed", [...files.keys()]) };
}

/** Returns the changed files by the states that Sheaf keeps for the undo. */
async function readOwnStates(place: SessionPlace): Promise<Map<string, string | null>> {
  const states = await readSessionStates(place);
  const changed = states ? [...listChangedFiles(states)] : [];
  return new Map(changed.map(([path, file]) => [path, file && file.id]));
}

function toRow(conversationId: string, logs: readonly LoggedResponse[], end: string, files: readonly string[]): Row {
  const events = logs.flatMap((log) => log.events);
  const digests = logs.map((log) => digestLog(log.events));
  const sum = (read: (digest: (typeof digests)[number]) => number): number =>
    digests.reduce((total, digest) => total + read(digest), 0);
  const models = new Set(events.flatMap((event) => (event.type === "run_start" ? [event.model] : [])));
  const isPriced = digests.some(({ costUsd }) => costUsd !== undefined);
  return {
    conversationId,
    model: [...models].join(", "),
    responses: logs.length,
    turns: events.filter(({ type }) => type === "turn_end").length,
    calls: events.filter(({ type }) => type === "tool_result").length,
    inputTokens: sum(({ promptTokens }) => promptTokens),
    outputTokens: sum(({ completionTokens }) => completionTokens),
    ...(isPriced && { costUsd: sum(({ costUsd = 0 }) => costUsd) }),
    end,
    files: files.toSorted(),
  };
}
