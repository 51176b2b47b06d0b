/** What goes between the thread of a server and the thread that writes its store. */
import type { ErrorCode, ErrorSource } from "../base/errors.ts";
import type { OwnedAppend } from "./sqlite-log.ts";
import type { SharedStore } from "./store.ts";

/** Writes beside appends. */
export type WriteMethod =
  | "createResponse"
  | "claimResponse"
  | "keepLease"
  | "requestCancel"
  | "lockConversation"
  | "revertResponses"
  | "addConversation"
  | "deleteConversation"
  | "addUsage";

/** One thing to do. `id` comes back with its outcome. */
export type WorkerRequest =
  | (OwnedAppend & { readonly kind: "append"; readonly id: number })
  | {
      readonly kind: "call";
      readonly id: number;
      readonly owner: string;
      readonly method: WriteMethod;
      readonly args: Parameters<SharedStore[WriteMethod]>;
    }
  /** Gives a lock back; `lock` is the id of the call that took it. */
  | { readonly kind: "unlock"; readonly id: number; readonly lock: number }
  | { readonly kind: "close"; readonly id: number };

/** An error as it crosses threads. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly source: ErrorSource;
  readonly details: string;
}

/** What became of a request. The value of `lockConversation` is whether there is such a conversation. */
export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly value?: unknown }
  | { readonly id: number; readonly ok: false; readonly error: PlainError };
