/** Makes a test from a stored session. */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import type { Config } from "@sheaf/agent/config/config";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { maskLog } from "@sheaf/agent/output/event-mask";
import type { LoggedResponse } from "@sheaf/agent/run/conversations/end-cut-response";
import { SheafError } from "@sheaf/base/errors";
import { listFiles } from "@sheaf/base/files/list-files";
import { findRepository } from "@sheaf/base/files/repository";
import type { Environment } from "@sheaf/base/paths";
import {
  listChangedFiles,
  readSessionStates,
  type SessionStates,
  type StateFile,
} from "@sheaf/agent/workspace/undo/session-states";
import { chooseStartFiles, toStartFile } from "./start-files.ts";
import type { TestResponse } from "@sheaf/agent/output/session-tests/test-response";
import type { TestFile } from "./test-file.ts";
import type { PlayedTest } from "./play-test.ts";
import { checkPlayable, toTestResponse } from "@sheaf/agent/output/session-tests/to-test-responses";

/** Length up to which a test expects the text of a changed file, in UTF-16 units. */
const MAX_EXPECTED = 20_000;

export interface StoredSession {
  readonly conversationId: string;
  readonly workspace: string;
  readonly logs: readonly LoggedResponse[];
}

export interface AddOptions {
  readonly config: Pick<Config, "dataFolder" | "permissions">;
  readonly environment: Environment;
  /** Patterns of `--files` for files that the test needs; undefined: all except ignored ones. */
  readonly patterns: readonly string[] | undefined;
}

/** Makes the test. @throws SheafError USAGE for a session that can't become a test, with the reason. */
export async function createTest(session: StoredSession, options: AddOptions): Promise<TestFile> {
  const { conversationId, workspace, logs } = session;
  const { config, environment, patterns } = options;
  if (logs.length === 0) throw new SheafError("USAGE", "the session has no response: choose another one");
  const mask = createKnownMask(environment);
  const responseIds = logs.map(({ id }) => id);
  const place = { conversationId, responseIds, workspace, dataFolder: config.dataFolder, environment };
  const states = (await readSessionStates(place)) ?? listPresent(workspace);
  const files = await chooseStartFiles(states, workspace, patterns);
  for (const { events } of logs) checkPlayable(events);
  const masked = logs.map(({ events }) => maskLog(events, { mask }));
  const has = (kind: RunEvent["type"]): boolean => masked.flat().some(({ type }) => type === kind);
  const hasSummaries = has("compaction");
  const { allow, ask, deny } = config.permissions;
  const rules = {
    allow: [...new Set([...allow, ...masked.flatMap(listGranted)])],
    ask: [...ask],
    deny: [...deny],
  };
  const starts = masked.flatMap(([event]) => (event?.type === "run_start" ? [event] : []));
  const servers = starts.flatMap(({ mcpServers = [] }) => mcpServers.filter(({ status }) => status === "ready"));
  const [start] = starts;
  const isForced = start?.permissionMode === "force";
  const settings = {
    ...(Object.values(rules).some((list) => list.length > 0) && { permissions: rules }),
    ...(has("agent_event") && { agents: true }),
  };
  const test: TestFile = {
    files,
    ...(findRepository(workspace).git !== "none" && { git: true }),
    ...(Object.keys(settings).length > 0 && { config: settings }),
    ...(isForced && { force: true }),
    ...(servers.length > 0 && { servers: Object.fromEntries(servers.map(({ name, tools }) => [name, tools])) }),
    responses: masked.map((events) => toTestResponse(events, hasSummaries)),
    expect: { files: await listExpected(states) },
  };
  return JSON.parse(mask.mask(JSON.stringify(replaceRoot(test, workspace)))) as TestFile;
}

/** Replaces the workspace's path, which differs from machine to machine. */
function replaceRoot(test: TestFile, workspace: string): TestFile {
  const text = JSON.stringify(test.responses).replaceAll(JSON.stringify(workspace).slice(1, -1), "<workspace>");
  return { ...test, responses: JSON.parse(text) as TestResponse[] };
}

/** Lists the present files for a session without changes: they're its files unless others have changed them. */
function listPresent(workspace: string): SessionStates {
  const names = listFiles(workspace, [join(workspace, ".git"), join(workspace, "node_modules")]);
  const start = names.map((path): StateFile => ({ kind: "file", id: path, path: relative(workspace, path) }));
  return { start, end: start, read: async ({ id }) => readFileSync(id) };
}

/** Lists rules with which the user allowed calls. */
function listGranted(events: readonly RunEvent[]): readonly string[] {
  const granted = new Set(
    events.map((event) =>
      event.type === "approval_resolved" && event.optionId.startsWith("allow") ? event.approvalId : "",
    ),
  );
  return events.flatMap((event) =>
    event.type === "approval_request" && granted.has(event.approvalId) ? event.rules : [],
  );
}

/** Returns the final texts of the files that the session changed; null for deleted ones. */
async function listExpected(states: SessionStates): Promise<Record<string, string | null>> {
  const expected: Record<string, string | null> = {};
  for (const [path, file] of listChangedFiles(states)) {
    if (!file) {
      expected[path] = null;
      continue;
    }
    const content = toStartFile(file, await states.read(file));
    const text = typeof content === "string" ? content : "program" in content ? content.program : undefined;
    if (text !== undefined && text.length <= MAX_EXPECTED) expected[path] = text;
  }
  return expected;
}

/** Returns the test with the results of this time. */
export function updateTest(test: TestFile, { responses, root }: PlayedTest): TestFile {
  const updated = test.responses.map((response, at): TestResponse => {
    const { end, sent, turns = [] }: Partial<TestResponse> = responses[at] ?? {};
    const { sent: _sent, end: _end, turns: expected, ...kept } = response;
    return {
      ...kept,
      ...(sent && { sent }),
      turns: expected.map((turn, index) => {
        const calls = turns[index]?.calls ?? turn.calls;
        return { ...turn, ...(calls && { calls }) };
      }),
      ...(end !== undefined && { end }),
    };
  });
  return replaceRoot({ ...test, responses: updated }, root);
}
