/** An editor that runs `sheaf acp` in the process of the test: the client side of the official SDK. */
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type ClientCapabilities,
  type ClientConnection,
  type InitializeResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";
import { onTestFinished } from "vitest";
import { openSheaf, type OpenSheaf } from "./sheaf.ts";

export interface Editor {
  readonly connection: ClientConnection;
  readonly sheaf: OpenSheaf;
  readonly updates: SessionUpdate[];
  readonly permissions: RequestPermissionRequest[];
  readonly initialized: InitializeResponse;
  /** Resolves once an update like this came. */
  waitFor(matches: (update: SessionUpdate) => boolean): Promise<void>;
}

export interface EditorOptions {
  /** Answers permission requests; undefined: cancelled. */
  readonly choose?: (request: RequestPermissionRequest) => string | undefined;
  readonly capabilities?: ClientCapabilities;
  /** The editor's own files. */
  readonly readFile?: (path: string) => string;
  readonly writeFile?: (path: string, text: string) => void;
  /** Folder of the store; default: `.home` in `cwd`. */
  readonly home?: string;
}

/** Stdin and stdout of a command line. */
export interface EditorStreams {
  readonly input: Writable;
  readonly output: Readable;
}

/** Messages of the Agent Client Protocol over the streams of a command line. */
export function toStream({ input, output }: EditorStreams): Stream {
  return ndJsonStream(
    Writable.toWeb(input) as WritableStream<Uint8Array>,
    Readable.toWeb(output) as ReadableStream<Uint8Array>,
  );
}

/** The SDK's own client, connected to the built program. */
export async function startEditor(cwd: string, args: readonly string[], options: EditorOptions = {}): Promise<Editor> {
  const { choose = () => "allow_once", capabilities = {}, readFile, writeFile } = options;
  const { home = join(cwd, ".home") } = options;
  const sheaf = openSheaf(["acp", ...args], { cwd, home });
  const updates: SessionUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const waiting: { matches: (update: SessionUpdate) => boolean; resolve: () => void }[] = [];
  const connection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      for (const { matches, resolve } of waiting) if (matches(params.update)) resolve();
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      const optionId = choose(params);
      if (optionId === undefined) return { outcome: { outcome: "cancelled" } };
      return { outcome: { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: readFile?.(params.path) ?? "" }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      writeFile?.(params.path, params.content);
      return {};
    })
    .connect(toStream(sheaf));
  onTestFinished(() => connection.close());
  const editor: Omit<Editor, "initialized"> = {
    connection,
    sheaf,
    updates,
    permissions,
    waitFor(matches) {
      if (updates.some(matches)) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ matches, resolve });
      return promise;
    },
  };
  const initialized = await connection.agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });
  return Object.assign(editor, { initialized });
}

export const say = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: "text" as const, text }] });

export const toText = (updates: readonly SessionUpdate[]): string =>
  updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    )
    .join("");
