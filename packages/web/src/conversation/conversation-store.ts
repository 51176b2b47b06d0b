/** One conversation: loads it, sends messages, follows answers, once a frame. */
import { type ResponseStream, SheafApiError, type SheafClient } from "@sheaf/client";
import type { ApprovalAnswer, ChatResponse, ClarificationAnswer } from "@sheaf/protocol";
import { createReducer } from "@sheaf/protocol";
import type { AttachedFile } from "../composer/attached-file.ts";
import { createFrameScheduler, createStore, type Store } from "../elements/store.ts";
import {
  type ConversationSettings,
  type ConversationState,
  emptyConversation,
  isStreaming,
  toEmptyResponse,
  type Turn,
} from "./conversation-state.ts";

/** What the user sends. */
interface OutgoingMessage {
  readonly message: string;
  readonly answers?: readonly ClarificationAnswer[];
  readonly files?: readonly AttachedFile[];
}

/** Result of an undo; for a conflict, what prevents it, one line per file. */
type RevertOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  | { readonly kind: "failed" };

export interface ConversationStore extends Store<ConversationState> {
  /** Loads the conversation, and follows its answer if one is still coming. */
  readonly load: () => Promise<void>;
  /** Resolves to whether the server accepted the message; if not, `refusal` says why. */
  readonly send: (message: OutgoingMessage) => Promise<boolean>;
  /** What the next message goes on with; a conversation that is stored keeps it (X26). */
  readonly configure: (change: Partial<ConversationSettings>) => Promise<void>;
  /** Where a new conversation begins. */
  readonly chooseWorkspace: (name: string) => void;
  readonly rename: (title: string) => Promise<void>;
  readonly cancel: () => Promise<void>;
  readonly decide: (approvalId: string, answer: ApprovalAnswer) => Promise<void>;
  /** Fails if somebody else changed files since, unless `onConflict` says what to do with them. */
  readonly revert: (responseId: string, onConflict?: "leave" | "overwrite") => Promise<RevertOutcome>;
  /** Follows again after the client gave up the stream. */
  readonly reconnect: () => void;
  /** Stops following; the answer continues on the server. */
  readonly leave: () => void;
}

export interface ConversationPorts {
  readonly client: SheafClient;
  readonly now: () => string;
  /** Called with the id of a new conversation, and for every change that other parts of the page show. */
  readonly onChange: (conversationId: string) => void;
  /** The server requires a new sign-in. */
  readonly onSignedOut: () => void;
  /** Describes why a request failed. */
  readonly describe: (error: unknown) => string;
}

export function createConversationStore(id: string | undefined, ports: ConversationPorts): ConversationStore {
  return new OpenConversation(id, ports);
}

class OpenConversation implements ConversationStore {
  readonly #ports: ConversationPorts;
  readonly #store;
  readonly #leaving = new AbortController();
  readonly #frame = createFrameScheduler(() => this.#show());
  #stream: ResponseStream | undefined;

  constructor(id: string | undefined, ports: ConversationPorts) {
    this.#ports = ports;
    this.#store = createStore<ConversationState>({
      ...emptyConversation,
      id,
      phase: id === undefined ? "ready" : "loading",
    });
  }

  readonly get = (): ConversationState => this.#store.get();
  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener);

  readonly load = async (): Promise<void> => {
    const { id } = this.get();
    if (id === undefined) return;
    const { signal } = this.#leaving;
    try {
      const conversation = await this.#ports.client.getConversation(id, { signal });
      const { title, workspace, turns, mode = "agent", model, effort } = conversation;
      const known = turns.map((turn): Turn => ({ ...turn, response: toChecked(turn.response) }));
      const settings = { mode, model, effort };
      this.#change({
        title,
        settings,
        workspace,
        turns: known,
        phase: "ready",
        connection: "idle",
        refusal: undefined,
      });
      this.#followLast();
    } catch (error) {
      if (signal.aborted) return;
      if (this.#isSignedOut(error)) return;
      const isMissing = error instanceof SheafApiError && error.status === 404;
      this.#change({ phase: isMissing ? "missing" : "failed", refusal: this.#ports.describe(error) });
    }
  };

  readonly send = async ({ message, answers, files }: OutgoingMessage): Promise<boolean> => {
    const before = this.get();
    if (isStreaming(before)) return false;
    const { mode, model, effort } = before.settings;
    const turn: Turn = {
      message,
      ...(answers !== undefined && { answers }),
      ...(files && { attachments: files.map(({ name, mediaType, blob }) => ({ name, mediaType, blob })) }),
      response: toEmptyResponse(mode, this.#ports.now()),
    };
    this.#change({ turns: [...before.turns, turn], connection: "connecting", refusal: undefined });
    const request = {
      message,
      mode,
      approvals: "ask" as const,
      ...(before.id !== undefined && { conversationId: before.id }),
      ...(before.id === undefined && before.workspace !== undefined && { workspace: before.workspace }),
      ...(model !== undefined && { model }),
      ...(effort !== undefined && { effort }),
      ...(answers !== undefined && { answers }),
      ...(files && { attachments: files.map(({ name, data }) => ({ name, data })) }),
    };
    const stream = this.#ports.client.chat(request, this.#toStreamOptions());
    const taken = Promise.withResolvers<boolean>();
    const follow = async (): Promise<void> => {
      const failure = await this.#follow(stream, () => taken.resolve(true));
      const isTaken = stream.responseId !== undefined;
      if (failure !== undefined && !isTaken) {
        this.#change({ turns: before.turns, connection: "idle", refusal: failure });
      }
      taken.resolve(isTaken);
    };
    void follow();
    return taken.promise;
  };

  readonly configure = async (change: Partial<ConversationSettings>): Promise<void> => {
    const { id, settings } = this.get();
    this.#change({ settings: { ...settings, ...change } });
    if (id === undefined) return;
    // A stored conversation always has a model: it can be replaced, not removed.
    const { model, effort, ...rest } = change;
    const body = {
      ...rest,
      ...(model !== undefined && { model }),
      ...("effort" in change && { effort: effort ?? null }),
    };
    if (Object.keys(body).length > 0) await this.#try(() => this.#ports.client.changeConversation(id, body));
  };

  readonly chooseWorkspace = (workspace: string): void => this.#change({ workspace });

  readonly rename = async (title: string): Promise<void> => {
    const { id } = this.get();
    if (id === undefined) return;
    await this.#try(async () => {
      const changed = await this.#ports.client.changeConversation(id, { title });
      this.#change({ title: changed.title });
      this.#ports.onChange(id);
    });
  };

  readonly cancel = async (): Promise<void> => {
    const responseId = this.#stream?.responseId;
    if (responseId === undefined) return;
    this.#change({ isCancelling: true });
    await this.#try(() => this.#ports.client.cancel(responseId));
  };

  readonly decide = async (approvalId: string, answer: ApprovalAnswer): Promise<void> => {
    const responseId = this.#stream?.responseId;
    if (responseId === undefined) return;
    await this.#try(() => this.#ports.client.resolveApproval(responseId, approvalId, answer));
  };

  readonly revert = async (responseId: string, onConflict?: "leave" | "overwrite"): Promise<RevertOutcome> => {
    const { id } = this.get();
    if (id === undefined) return { kind: "failed" };
    try {
      await this.#ports.client.revertConversation(id, responseId, { onConflict });
    } catch (error) {
      const isConflict = error instanceof SheafApiError && error.errorCode === "FILES_CHANGED";
      if (isConflict) return { kind: "conflict", files: error.details.split("\n").filter((line) => line !== "") };
      if (!this.#isSignedOut(error)) this.#change({ refusal: this.#ports.describe(error) });
      return { kind: "failed" };
    }
    await this.load();
    this.#ports.onChange(id);
    return { kind: "done" };
  };

  readonly reconnect = (): void => {
    if (this.get().phase === "ready") this.#followLast();
    else void this.load();
  };

  readonly leave = (): void => {
    this.#leaving.abort();
    this.#frame.cancel();
  };

  /** Continues the last answer from where the page has it. */
  #followLast(): void {
    const last = this.get().turns.at(-1);
    if (last === undefined || last.response.status !== "streaming" || last.response.id === "") return;
    const { metadata, id } = last.response;
    const from = metadata.lastEventId === undefined ? { snapshot: true } : { from: last.response };
    void this.#follow(this.#ports.client.follow(id, { ...from, ...this.#toStreamOptions() }), () => undefined);
  }

  #toStreamOptions() {
    return {
      signal: this.#leaving.signal,
      onConnection: (connection: "connecting" | "open" | "waiting") => this.#change({ connection }),
    };
  }

  /** Reads a stream to its end. @returns why it failed. */
  async #follow(stream: ResponseStream, onTaken: () => void): Promise<string | undefined> {
    this.#stream = stream;
    let isTaken = false;
    try {
      await stream.readToEnd(() => {
        this.#frame.request();
        if (isTaken) return;
        isTaken = true;
        this.#take(stream);
        onTaken();
      });
      this.#end(stream);
      return undefined;
    } catch (error) {
      if (this.#leaving.signal.aborted) return undefined;
      this.#show();
      this.#change({ connection: "broken", isCancelling: false });
      if (this.#isSignedOut(error)) return "";
      return this.#ports.describe(error);
    }
  }

  /** The first event of an answer arrived: the conversation now has an id. */
  #take({ conversationId }: ResponseStream): void {
    if (conversationId === undefined || this.get().id === conversationId) return;
    const [first] = this.get().turns;
    this.#change({ id: conversationId, title: (first?.message || first?.attachments?.[0]?.name)?.slice(0, 80) ?? "" });
    this.#ports.onChange(conversationId);
  }

  #end(stream: ResponseStream): void {
    this.#frame.cancel();
    this.#show();
    this.#change({ connection: "idle", isCancelling: false });
    if (stream.conversationId !== undefined) this.#ports.onChange(stream.conversationId);
  }

  /** Shows what arrived since the last frame. */
  #show(): void {
    const { turns } = this.get();
    const last = turns.at(-1);
    const response = this.#stream?.response;
    if (last === undefined || response === undefined || response.id === "" || response === last.response) return;
    this.#change({ turns: [...turns.slice(0, -1), { ...last, response }] });
  }

  #change(change: Partial<ConversationState>): void {
    this.#store.set({ ...this.get(), ...change });
  }

  async #try(request: () => Promise<unknown>): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      if (!this.#isSignedOut(error)) this.#change({ refusal: this.#ports.describe(error), isCancelling: false });
      return false;
    }
  }

  #isSignedOut(error: unknown): boolean {
    // Not to be confused with a provider that requires a key.
    const isSignedOut = error instanceof SheafApiError && error.status === 401 && error.source === "server";
    if (isSignedOut) this.#ports.onSignedOut();
    return isSignedOut;
  }
}

/** Passes a response through the reducer: invalid fields are removed, so that views need not expect them. */
function toChecked(response: ChatResponse): ChatResponse {
  const reducer = createReducer();
  reducer.push({ id: 1, event: "snapshot", data: { response } });
  const { lastEventId } = response.metadata;
  const checked = reducer.response;
  return lastEventId === undefined ? checked : { ...checked, metadata: { ...checked.metadata, lastEventId } };
}
