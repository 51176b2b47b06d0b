/** The same request, sent again with its `Idempotency-Key`, is the same response (X9). */
import { hash } from "node:crypto";
import type { RequestKey, SharedStore } from "@sheaf/store/store";
import { SheafError } from "@sheaf/base/errors";
import { HttpError } from "./http-error.ts";
import type { QueuedResponse } from "./queued-responses.ts";

/** A response by its ids. */
export interface ResponseIds {
  readonly responseId: string;
  readonly conversationId: string;
}

/** @throws HttpError USAGE. Undefined: the client sent none. */
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
  /** Undefined: it has begun. */
  readonly queued?: QueuedResponse | undefined;
}

/** Two requests that come at the same moment are one, too. */
export function createRequestKeys() {
  const starting = new Map<
    string,
    { readonly digest: string; readonly started: Promise<ResponseIds | AcceptedResponse> }
  >();
  return {
    /** The response that the key has already, or the one that `start` gives. @throws HttpError IDEMPOTENCY_CONFLICT. */
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
      /** Another server may have begun it at the same moment: then the answer is its response. */
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
