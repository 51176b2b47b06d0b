/** A client on a server of one stream, that does not wait between connections. */
import { stream as events } from "../../protocol/test/event-log.ts";
import { createClient, type ClientOptions, type ResponseStream, type SheafClient, type Update } from "../src/index.ts";
import { createStreamServer, type StreamServer, type StreamServerOptions } from "./stream-server.ts";

export const noWait = { delayMs: 0, maxDelayMs: 0 };

export function openClient(
  options: Partial<StreamServerOptions> = {},
  clientOptions: Partial<ClientOptions> = {},
): { readonly server: StreamServer; readonly client: SheafClient } {
  const server = createStreamServer({ events, ...options });
  const baseUrl = "http://sheaf.test/";
  return { server, client: createClient({ baseUrl, fetch: server.fetch, reconnect: noWait, ...clientOptions }) };
}

export async function readAll(stream: ResponseStream): Promise<Update[]> {
  const updates: Update[] = [];
  for await (const update of stream) updates.push(update);
  return updates;
}

export const toIds = (updates: readonly Update[]): number[] => updates.map(({ event }) => event.id);
/** Of the whole stream. */
export const allIds = events.map(({ id }) => id);
