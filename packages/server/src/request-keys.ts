/** Idempotent requests: the same `Idempotency-Key` gives the same response (X9). */
import { hash } from "node:crypto";
import type { RequestKey, SharedStore } from "@sheaf/store/store";
import { SheafError } from "@sheaf/base/errors";
import { HttpError } from "./http-error.ts";
import type { QueuedResponse } from "./queued-responses.ts";

export interface ResponseIds {
  readonly responseId: string;
  readonly conversationId: string;
}

/** Returns undefined if the client sent no key. @throws HttpError USAGE. */
export function toRequestKey(header: string | undefined, body: unknown): RequestKey | undefined {
  if (header === undefined) return undefined;
  if (!/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw new HttpError("USAGE", "the header Idempotency-Key is not valid: send 1 to 255 printable characters");
  }
  return { key: header, digest: hash("sha256", JSON.stringify(body), "hex") };
}

/** A response that is new, and stored with its key. */
export interface AcceptedResponse extends ResponseIds {
  readonly isNew: true;
  /** The response if it waits; undefined: it has started. */
  readonly queued?: QueuedResponse | undefined;
}

/** Two requests with the same key at the same moment share one response. */
export function createRequestKeys() {
  const starting = new Map<
    string,
    { readonly digest: string; readonly started: Promise<ResponseIds | AcceptedResponse> }
  >();
  return {
    /** Returns the response of the key, or starts it with `start`. @throws HttpError IDEMPOTENCY_CONFLICT. */
    async startOnce(
      store: SharedStore,
      owner: string,
      { key, digest }: RequestKey,
      start: () => Promise<AcceptedResponse>,
    ): Promise<ResponseIds | AcceptedResponse> {
      const name = JSON.stringify([owner, key]);
      const other = starting.get(name);
      if (other) {
        checkDigest(key, digest, other.digest);
        return other.started;
      }
      const find = async (): Promise<ResponseIds | AcceptedResponse> => {
        const known = await store.findRequest(key);
        if (!known) return start();
        checkDigest(key, digest, known.digest);
        return known;
      };
      /** If another server started the response at the same moment, returns that response. */
      const findOrStart = async (): Promise<ResponseIds | AcceptedResponse> => {
        try {
          return await find();
        } catch (error) {
          const known = isBusy(error) ? await store.findRequest(key) : undefined;
          if (!known) throw error;
          checkDigest(key, digest, known.digest);
          return known;
        }
      };
      const forget = (): void => void starting.delete(name);
      const started = findOrStart();
      starting.set(name, { digest, started });
      started.then(forget, forget);
      return started;
    },
  };
}

export type RequestKeys = ReturnType<typeof createRequestKeys>;

function isBusy(error: unknown): boolean {
  return error instanceof SheafError && error.code === "CONVERSATION_BUSY";
}

function checkDigest(key: string, digest: string, known: string): void {
  if (digest === known) return;
  const message = `the Idempotency-Key ${JSON.stringify(key.slice(0, 100))} was sent with another body before: choose a new key`;
  throw new HttpError("IDEMPOTENCY_CONFLICT", message);
}
