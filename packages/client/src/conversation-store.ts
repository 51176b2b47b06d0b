/** The store of one conversation, as a user interface sees it. */
import type { ApprovalAnswer, ChatRequest, WaitingOrder } from "@sheaf/protocol";
import type { ChatsStore } from "./chats.ts";
import type { RevertOptions } from "./client.ts";
import type { ConversationSettings, ConversationState, OutgoingMessage } from "./conversation-state.ts";
import type { Schedule } from "./schedule-frame.ts";
import type { ReadableStore } from "./store.ts";

export interface ConversationOptions {
  /** Id of a stored conversation, which `load` fetches. Without it, the first message starts a new conversation. */
  readonly id?: string | undefined;
  /** Settings of a new conversation. Default: agent mode, and the server's model, effort and workspace. */
  readonly settings?: ConversationChoice | undefined;
  /** Additional fields of every message, such as `budget`. The default of `approvals` is "ask". */
  readonly request?: MessageDefaults | undefined;
  /** True to follow the reasoning of the model, which is `reasoning` of a turn (N14). Default: false. */
  readonly reasoning?: boolean | undefined;
  /** Called when lists should show the conversation again: started, renamed, answered or reverted. */
  readonly onChange?: ((conversationId: string) => void) | undefined;
  /** An open list. By its events, the conversation follows other tabs, devices and programs. */
  readonly chats?: Pick<ChatsStore, "subscribe" | "getSnapshot"> | undefined;
  /** Schedule of changes of the state. Default: once a frame; every 16 ms without frames. */
  readonly schedule?: Schedule | undefined;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export type MessageDefaults = Omit<
  Partial<ChatRequest>,
  "message" | "conversationId" | "answers" | "attachments" | "stream"
>;

/** Settings, and the workspace of a conversation that hasn't started. */
export interface ConversationChoice extends Partial<ConversationSettings> {
  readonly workspace?: string | undefined;
}

/** Outcome of showing another version. `conflict`: something else changed these files since; choose an `onConflict`. */
export type RevertOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  /** The state's `error` has the reason. */
  | { readonly kind: "failed" };

export type ConflictChoice = Pick<RevertOptions, "onConflict">;

export interface EditOptions extends ConflictChoice {
  /** Files to send after the files of the message. */
  readonly attachments?: OutgoingMessage["attachments"];
}

/** No method throws: if a request failed, `error` of the state has the reason. The functions need no `this`. */
export interface ConversationStore extends ReadableStore<ConversationState> {
  /** Fetches the conversation, for the first time or again, and follows its response if that still runs. */
  readonly load: () => Promise<void>;
  /**
   * Sends a message. While a response runs, the message waits at the server (`waiting`), and starts the next response.
   * Resolves to true if the server accepted it; if not, give it back to its writer.
   */
  readonly send: (message: OutgoingMessage) => Promise<boolean>;
  /**
   * Sets the order of the messages that wait. With `whenBusy: "steer"` the running response gets a message after its
   * current tool calls (C241, C242).
   */
  readonly arrange: (order: WaitingOrder["waiting"]) => Promise<boolean>;
  /** Removes a message that waits. Resolves to false if it has started, or the response has it. */
  readonly unqueue: (responseId: string) => Promise<boolean>;
  /** Sets the settings of the next message, which a stored conversation remembers (X26). */
  readonly configure: (change: ConversationChoice) => Promise<boolean>;
  readonly rename: (title: string) => Promise<boolean>;
  /** Ends the running response (X7). */
  readonly cancel: () => Promise<boolean>;
  /** Answers one of `approvals` (X8). Resolves to false, without an error, if the call already had its answer. */
  readonly decide: (approvalId: string, answer: ApprovalAnswer) => Promise<boolean>;
  /**
   * Fetches the reasoning of an ended response from the server's events into its turn, where `reasoning` stays
   * undefined if the model sent none. Resolves to false if the request failed.
   */
  readonly loadReasoning: (responseId: string) => Promise<boolean>;
  /** Reverts this response and everything after it: history and files. They stay as `nextVersions`. */
  readonly revert: (responseId: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /** Shows another one of `versions` or `nextVersions`, with the turns after it, and its files. */
  readonly show: (responseId: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /**
   * Sends an edited message as another version, after restoring the files to their state before the old one. Resolves
   * when the server has accepted it.
   */
  readonly edit: (responseId: string, text: string, options?: EditOptions) => Promise<RevertOutcome>;
  /** Sends the message of a response once more, as `edit` does. Default: the last one. */
  readonly regenerate: (responseId?: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /** Tries again at once: repeats a failed load, and follows a response whose connection broke or waits. */
  readonly reconnect: () => void;
  /**
   * Sets if the person sees the conversation. A hidden conversation doesn't follow its response, so that tabs in the
   * background leave the browser's connections free. Default: shown.
   */
  readonly setShown: (isShown: boolean) => void;
  /**
   * Stops following; the response continues at the server, and a message on its way still reaches it. `load` opens the
   * conversation again.
   */
  readonly close: () => void;
}
