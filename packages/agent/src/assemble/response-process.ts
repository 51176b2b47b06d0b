/** A process that prepares the responses of one workspace, and runs their tools. */
import { lstatSync } from "node:fs";
import { createPeer, type Peer } from "@sheaf/base/peer";
import { createKnownMask } from "../config/known-secrets.ts";
import { createPreparer, type Preparer } from "./preparer.ts";
import type { ResponsePorts } from "./prepare-response.ts";
import type { RunRequest } from "./run-request.ts";
import { now } from "./wire.ts";

/** The functions that the server may call. */
export interface ResponseProcess extends Omit<Preparer, "prepare" | "look"> {
  prepare(request: RunRequest, given: Omit<ResponsePorts, "now">, signal: AbortSignal): ReturnType<Preparer["prepare"]>;
  /** Waits for the disk of the workspace. */
  look(workspace: string): void;
}

const peers = new Map<number, Peer>();
let preparer: Preparer | undefined;

const served: ResponseProcess = {
  prepare(request, given, signal) {
    preparer ??= createPreparer(request.environment);
    return preparer.prepare(request, { ...given, now }, request.workspace, signal);
  },
  look(workspace) {
    try {
      lstatSync(workspace);
    } catch {
      // The disk has answered, even if with an error.
    }
  },
  end: async (conversationId) => preparer?.end(conversationId),
  close: async () => preparer?.close(),
};

function openPeer(channel: number): Peer {
  const peer = createPeer(
    (message) => process.send?.({ channel, message }),
    (method: keyof ResponseProcess, ...args: unknown[]) => (served[method] as (...args: unknown[]) => unknown)(...args),
  );
  peers.set(channel, peer);
  return peer;
}

process.on("message", ({ channel, message }: { readonly channel: number; readonly message?: unknown }) => {
  if (message === undefined) peers.delete(channel);
  else (peers.get(channel) ?? openPeer(channel)).receive(message);
});
// The server's log has this process's stderr.
process.on("uncaughtException", (error: unknown) => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${createKnownMask(process.env).mask(text)}\n`);
  process.exit(1);
});
// The server ends it.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => undefined);
process.on("disconnect", () => process.exit());
// It has loaded its code: from now on silence means that its disk does not answer.
process.send?.({ channel: 0 });
