/** The store of one conversation, as a user interface sees it. */
import type { ApprovalAnswer, ChatRequest, WaitingOrder } from "@sheaf/protocol";
import type { ChatsStore } from "./chats.ts";
import type { RevertOptions } from "./client.ts";
import type { ConversationSettings, ConversationState, OutgoingMessage } from "./conversation-state.ts";
import type { Schedule } from "./schedule-frame.ts";
import type { ReadableStore } from "./store.ts";

export interface ConversationOptions {
  /** A stored conversation, which `load` fetches. Without it, the first message begins a new one. */
  readonly id?: string | undefined;
  /** What a new conversation begins with. Default: agent mode, and the server's model, effort and workspace. */
  readonly settings?: ConversationChoice | undefined;
  /** Further fields of every message, such as `budget`. `approvals` is "ask" unless it says otherwise. */
  readonly request?: MessageDefaults | undefined;
  /** Follow the reasoning of the model, too: `reasoning` of a turn (N14). Default: false. */
  readonly reasoning?: boolean | undefined;
  /** Called when a list of conversations would show something else: it began, got a title, was answered or reverted. */
  readonly onChange?: ((conversationId: string) => void) | undefined;
  /** An open list. By its events, the conversation follows other tabs, devices and programs. */
  readonly chats?: Pick<ChatsStore, "subscribe" | "getSnapshot"> | undefined;
  /** When pieces of a response are shown. Default: once a frame; where there are no frames, every 16 ms. */
  readonly schedule?: Schedule | undefined;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export type MessageDefaults = Omit<
  Partial<ChatRequest>,
  "message" | "conversationId" | "answers" | "attachments" | "stream"
>;

/** Settings, and the workspace of a conversation that has not begun. */
export interface ConversationChoice extends Partial<ConversationSettings> {
  readonly workspace?: string | undefined;
}

/** Outcome of showing another version. `conflict`: something else changed these files since; say what to do with `onConflict`. */
export type RevertOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  /** `error` of the state says why. */
  | { readonly kind: "failed" };

export type ConflictChoice = Pick<RevertOptions, "onConflict">;

export interface EditOptions extends ConflictChoice {
  /** Sent after the files of the message. */
  readonly attachments?: OutgoingMessage["attachments"];
}

/** No method throws: `error` of the state is why a request failed. The functions need no `this`. */
export interface ConversationStore extends ReadableStore<ConversationState> {
  /** Fetches the conversation, and follows its response if one is still coming. Also to load it again. */
  readonly load: () => Promise<void>;
  /**
   * Sends a message. While a response is coming, the message waits at the server (`waiting`), and starts the next
   * response. Resolves to whether the server accepted it: if not, give it back to its writer.
   */
  readonly send: (message: OutgoingMessage) => Promise<boolean>;
  /**
   * Sets the order of the messages that wait. With `whenBusy: "steer"` the running response gets a message after its
   * current tool calls (C241, C242).
   */
  readonly arrange: (order: WaitingOrder["waiting"]) => Promise<boolean>;
  /** Removes a message that waits. Resolves to false if it has started, or the response has it. */
  readonly unqueue: (responseId: string) => Promise<boolean>;
  /** What the next message goes on with; a stored conversation keeps it (X26). */
  readonly configure: (change: ConversationChoice) => Promise<boolean>;
  readonly rename: (title: string) => Promise<boolean>;
  /** Ends the response that is coming (X7). */
  readonly cancel: () => Promise<boolean>;
  /** Answers one of `approvals` (X8). Resolves to whether the server took the answer: false, without an error, if the call was decided before. */
  readonly decide: (approvalId: string, answer: ApprovalAnswer) => Promise<boolean>;
  /**
   * Fetches the reasoning of a response that has ended, from the events that the server stores: `reasoning` of its
   * turn, which stays undefined if the model sent none. Resolves to whether it could be fetched.
   */
  readonly loadReasoning: (responseId: string) => Promise<boolean>;
  /** Reverts this response and everything after it: history and files. They stay as `nextVersions`. */
  readonly revert: (responseId: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /** Shows another one of `versions` or `nextVersions`, with what followed it, and its files. */
  readonly show: (responseId: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /**
   * Sends an edited message as another version, after the files went back to their state before the old one. Resolves when
   * the server has accepted it.
   */
  readonly edit: (responseId: string, text: string, options?: EditOptions) => Promise<RevertOutcome>;
  /** Sends the message of a response once more, as `edit` does. Default: of the last one. */
  readonly regenerate: (responseId?: string, options?: ConflictChoice) => Promise<RevertOutcome>;
  /** Tries again at once: loads what could not be loaded, and follows a response whose connection broke or waits. */
  readonly reconnect: () => void;
  /**
   * Sets whether the person sees the conversation. A hidden conversation doesn't follow its response, so that tabs in the
   * background leave the browser's connections free. Default: shown.
   */
  readonly setShown: (isShown: boolean) => void;
  /**
   * Stops following; the response goes on at the server, and a message under way still reaches it. `load` opens the
   * conversation again.
   */
  readonly close: () => void;
}
