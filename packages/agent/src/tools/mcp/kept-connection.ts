/** The connection of one server: made when it is needed, and again when its program has ended. */
import type { RequestOptions } from "@modelcontextprotocol/client";
import { untilAborted } from "@sheaf/base/until-aborted";
import type { ServerConnection } from "./server-connection.ts";
import { describeFault } from "./server-problem.ts";

/** A request that a server must answer before it is ready. */
export interface StartRequest extends RequestOptions {
  readonly signal: AbortSignal;
}

export interface KeptConnection {
  /** The connection; undefined before the first one, and after the end of its program. */
  readonly current: ServerConnection | undefined;
  /** Tokens that Sheaf used so far. */
  readonly secrets: readonly string[];
  /** Connects, once for all simultaneous requests. @throws if it is not ready in time, or was closed. */
  connect(request: StartRequest): Promise<ServerConnection>;
  /** Disconnects, until the next request. */
  disconnect(): Promise<void>;
  /** Disconnects for good. Never rejects. */
  close(): Promise<void>;
}

/** Creates the keeper of a connection. `create` makes a connection that is not open yet. */
export function createKeptConnection(create: () => ServerConnection, startSeconds: number): KeptConnection {
  const secrets = new Set<string>();
  let connection: ServerConnection | undefined;
  let connecting: Promise<ServerConnection> | undefined;
  let isClosed = false;

  const noteSecrets = (from: ServerConnection): void => {
    for (const secret of from.secrets) secrets.add(secret);
  };

  const disconnect = async (): Promise<void> => {
    const old = connection;
    connection = undefined;
    if (old) noteSecrets(old);
    await old?.close();
  };

  const open = async (request: StartRequest): Promise<ServerConnection> => {
    await disconnect();
    const made = create();
    try {
      await untilReady(made.connect(request), request, startSeconds);
      if (isClosed) throw new Error("it was ended");
      return (connection = made);
    } catch (error) {
      noteSecrets(made);
      await made.close();
      if (made.lastWords === "") throw error;
      throw new Error(`${describeFault(error)}; it wrote: ${made.lastWords}`, { cause: error });
    }
  };

  const findCurrent = (): ServerConnection | undefined => (connection?.hasEnded === false ? connection : undefined);

  return {
    get current() {
      return findCurrent();
    },
    get secrets() {
      if (connection) noteSecrets(connection);
      return [...secrets];
    },
    async connect(request) {
      if (isClosed) throw new Error("it was ended");
      const current = findCurrent();
      if (current) return current;
      connecting ??= open(request).finally(() => (connecting = undefined));
      return connecting;
    },
    disconnect,
    async close() {
      isClosed = true;
      await connecting?.catch(() => undefined);
      await disconnect();
    },
  };
}

/** Waits for an answer, but rejects at an abort, even if the server or its transport does not stop. */
export async function untilReady<Value>(
  answer: Promise<Value>,
  { signal }: StartRequest,
  seconds: number,
): Promise<Value> {
  return untilAborted(answer, signal).catch((error: unknown) => {
    throw signal.aborted ? new Error(`it was not ready within ${seconds} s`, { cause: error }) : error;
  });
}
