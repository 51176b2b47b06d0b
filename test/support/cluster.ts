/** Servers, as on several machines, on one PostgreSQL database: the same workspace, tokens and store, and nothing else in common. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect } from "vitest";
import type { TestPostgres } from "./postgres-cluster.ts";
import {
  readEvents,
  startServer,
  startServerProcess,
  type ServerOptions,
  type ServerProcess,
  type TestServer,
} from "./server.ts";
import type { createTestFolder } from "./sheaf.ts";

export interface Cluster {
  /** The address of the database. */
  readonly store: string;
  /** The workspace of all. */
  readonly cwd: string;
  /** Of the users ada and bob. */
  tokenOf(user: string): string;
  /** Another server, as ada; each name has a home of its own. `chat` asks the scripted model. */
  start(name: string, environment?: Readonly<Record<string, string>>): Promise<TestServer>;
  /** The same in its own process, which a test can kill. */
  startProcess(name: string, environment?: Readonly<Record<string, string>>, program?: string): Promise<ServerProcess>;
}

interface ClusterOptions extends Pick<ServerOptions, "onEnd"> {
  /** The model of every server. */
  readonly script: unknown;
  /** Flags of every server. */
  readonly args?: readonly string[];
  /** What the workspace has. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A new database, and no server yet. */
export async function createCluster(
  postgres: TestPostgres,
  folders: ReturnType<typeof createTestFolder>,
  options: ClusterOptions,
): Promise<Cluster> {
  const store = await postgres.createDatabase();
  const { script, args = [], files, onEnd } = options;
  const cwd = folders.newFolder(files);
  const settings = folders.newFolder();
  const tokenFile = join(settings, "tokens");
  const scriptFile = join(settings, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  const tokens = new Map(["ada", "bob"].map((name) => [name, randomBytes(24).toString("hex")]));
  writeFileSync(tokenFile, [...tokens].map(([name, token]) => `${name} ${token}\n`).join(""), { mode: 0o600 });
  const toOptions = (name: string, environment: Readonly<Record<string, string>> = {}): ServerOptions => ({
    home: `${cwd}-${name}`,
    cwd,
    args: ["--token-file", tokenFile, "--offer", `scripted:${scriptFile}`, ...args],
    environment: { SHEAF_STORE: store, ...environment },
    ...(onEnd && { onEnd }),
  });
  const token = tokens.get("ada")!;
  const asAda = <Server extends TestServer>(server: Server): Server => ({
    ...server,
    ...server.as(token, { model: "scripted:script.json" }),
    token,
  });
  return {
    store,
    cwd,
    tokenOf: (user) => tokens.get(user)!,
    start: async (...words) => asAda(await startServer(toOptions(...words))),
    startProcess: async (name, environment, program) =>
      asAda(await startServerProcess({ ...toOptions(name, environment), ...(program && { program }) })),
  };
}

/** Begins a response, and collects its events for as long as the server lives. */
export async function begin(
  server: TestServer,
  body: Readonly<Record<string, unknown>> = {},
): Promise<{ path: string; conversationId: string; seen: StreamEvent[]; read: Promise<unknown> }> {
  const answer = await server.chat({ message: "Go", stream: true, ...body });
  expect(answer.status).toBe(200);
  const seen: StreamEvent[] = [];
  const read = readEvents(answer, (event) => {
    seen.push(event);
    return false;
  }).catch(() => undefined);
  return {
    path: answer.headers.get("location")!,
    conversationId: answer.headers.get("x-conversation-id")!,
    seen,
    read,
  };
}

/** The whole stream at a server, checked: it begins with what was seen elsewhere, and has an end. */
export async function readWhole(
  server: TestServer,
  path: string,
  seen: readonly StreamEvent[],
): Promise<readonly StreamEvent[]> {
  const events = await readEvents(await server.fetch(`${path}/events`));
  expect(events.slice(0, seen.length)).toEqual(seen);
  expect(verify(events)).toBeUndefined();
  expect(events.at(-1)?.event).toBe("done");
  return events;
}
