/** One conversation for a user interface: loads it, sends messages, and follows responses. */
import type { ApprovalAnswer } from "@sheaf/protocol";
import type { SheafClient } from "./client.ts";
import { createReasoningReader, readStoredReasoning, type ReasoningReader } from "./conversation-reasoning.ts";
import {
  type ConversationState,
  type OutgoingMessage,
  toAnsweredTurn,
  toEmptyState,
  toFirstTurn,
  toLoadedState,
  toNextTurn,
  toStillWaiting,
  toTitle,
  toTurnsState,
  type Turn,
} from "./conversation-state.ts";
import type {
  ConversationOptions,
  ConversationChoice,
  RevertOutcome,
  ConversationStore,
} from "./conversation-store.ts";
import {
  decideOnce,
  type MessagePlace,
  type PlacedMessage,
  readFiles,
  toChatRequest,
  toSettingsChange,
} from "./conversation-request.ts";
import { type ListWatch, watchList } from "./conversation-watch.ts";
import type { MessageFile } from "./encode-file.ts";
import { SheafApiError, toError } from "./errors.ts";
import type { ConnectionState, ResponseStream } from "./response-stream.ts";
import { scheduleFrame } from "./schedule-frame.ts";
import { createStore } from "./store.ts";

/** Creates a conversation that sends no request before `load` or `send`, so a server can render it. */
export function createConversation(client: SheafClient, options: ConversationOptions = {}): ConversationStore {
  return new OpenConversation(client, options);
}

class OpenConversation implements ConversationStore {
  readonly #client: SheafClient;
  readonly #options: ConversationOptions;
  readonly #store;
  #loading = new AbortController();
  #newestLoad: Promise<void> = Promise.resolve();
  /** The load that messages wait for. They share it, because another load would end it. */
  #loaded: Promise<void> | undefined;
  #closing = new AbortController();
  #following = new AbortController();
  #stream: ResponseStream | undefined;
  #reasoning: ReasoningReader | undefined;
  /** True if the server accepted the last message. */
  #accepted: Promise<boolean> = Promise.resolve(true);
  #cancelFrame: (() => void) | undefined;
  #isShown = true;
  #watch: ListWatch | undefined;

  constructor(client: SheafClient, options: ConversationOptions) {
    this.#client = client;
    this.#options = options;
    const empty = toEmptyState(options.id);
    const { workspace, ...settings } = options.settings ?? {};
    this.#store = createStore<ConversationState>({ ...empty, workspace, settings: { ...empty.settings, ...settings } });
  }

  readonly getSnapshot = (): ConversationState => this.#store.getSnapshot();
  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener);

  readonly setTitle = (title: string): void => this.#change({ title });

  readonly load = async (): Promise<void> => {
    const { id } = this.getSnapshot();
    this.#watch ??= this.#options.chats && watchList(this.#options.chats, this);
    if (id === undefined) return;
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.#newestLoad = this.#load(id, signal);
    // Another load may replace this one, and callers must see the newest answer of the server.
    for (let newest; newest !== this.#newestLoad;) await (newest = this.#newestLoad);
  };

  readonly send = async (message: OutgoingMessage): Promise<boolean> => {
    if (this.getSnapshot().status === "loading") await (this.#loaded ??= this.load());
    const { status, isAnswering } = this.getSnapshot();
    if (status !== "ready") return false;
    return isAnswering ? this.#queue(message) : this.#send(message);
  };

  readonly arrange: ConversationStore["arrange"] = async (order) => {
    const { id } = this.getSnapshot();
    if (id === undefined) return false;
    return this.#try(async () => {
      const waiting = await this.#client.arrangeWaiting(id, order);
      this.#change({ waiting: toStillWaiting(waiting, this.getSnapshot().turns) });
      if (order.length > 0) this.#options.onChange?.(id);
    });
  };

  readonly unqueue = async (responseId: string): Promise<boolean> => {
    const rest = this.getSnapshot().waiting.filter((message) => message.responseId !== responseId);
    const isWaiting = rest.length < this.getSnapshot().waiting.length;
    if (!isWaiting || !(await this.#try(() => this.#client.cancel(responseId)))) return false;
    this.#change({ waiting: rest });
    this.#options.onChange?.(this.getSnapshot().id ?? "");
    return true;
  };

  readonly configure = async ({ workspace, ...change }: ConversationChoice): Promise<boolean> => {
    const { id, settings } = this.getSnapshot();
    const isNew = id === undefined;
    this.#change({ settings: { ...settings, ...change }, ...(isNew && workspace !== undefined && { workspace }) });
    if (isNew) return true;
    const body = toSettingsChange(change);
    if (Object.keys(body).length === 0) return true;
    return this.#try(() => this.#client.changeConversation(id, body));
  };

  readonly rename = async (title: string): Promise<boolean> => {
    const { id } = this.getSnapshot();
    if (id === undefined) return false;
    return this.#try(async () => {
      const changed = await this.#client.changeConversation(id, { title });
      this.#change({ title: changed.title });
      this.#options.onChange?.(id);
    });
  };

  readonly cancel = async (): Promise<boolean> => {
    if (!this.getSnapshot().isAnswering) return false;
    this.#change({ isCancelling: true });
    await this.#accepted;
    const responseId = this.#stream?.responseId;
    if (responseId === undefined || !this.getSnapshot().isAnswering) return false;
    const isTaken = await this.#try(() => this.#client.cancel(responseId));
    if (!isTaken) this.#change({ isCancelling: false });
    return isTaken;
  };

  readonly decide = async (approvalId: string, answer: ApprovalAnswer): Promise<boolean> => {
    const responseId = this.getSnapshot().turns.at(-1)?.response.id;
    if (!responseId) return false;
    let isTaken = false;
    await this.#try(async () => (isTaken = await decideOnce(this.#client, responseId, approvalId, answer)));
    return isTaken;
  };

  readonly loadReasoning = (responseId: string): Promise<boolean> => {
    const { signal } = this.#closing;
    return this.#try(async () => {
      const reasoning = await readStoredReasoning(this.#client, responseId, signal);
      if (reasoning === undefined) return;
      const keep = (turn: Turn): Turn => (turn.response.id === responseId ? { ...turn, reasoning } : turn);
      this.#change(toTurnsState(this.getSnapshot().turns.map(keep)));
    }, signal);
  };

  readonly revert: ConversationStore["revert"] = (responseId, choice) =>
    this.#changeBranch((id) => this.#client.revertConversation(id, responseId, choice));

  readonly show: ConversationStore["show"] = (responseId, choice) =>
    this.#changeBranch((id) => this.#client.showBranch(id, responseId, choice));

  readonly regenerate: ConversationStore["regenerate"] = async (responseId, options) => {
    const turn = this.getSnapshot().turns.findLast(({ response }) => (responseId ?? response.id) === response.id);
    return turn ? this.edit(turn.response.id, turn.message, options) : { kind: "failed" };
  };

  readonly edit: ConversationStore["edit"] = async (responseId, text, { attachments: more = [], onConflict } = {}) => {
    const { turns, isAnswering } = this.getSnapshot();
    const at = turns.findIndex(({ response }) => response.id === responseId);
    const turn = turns[at];
    if (turn === undefined || isAnswering) return { kind: "failed" };
    const files: MessageFile[] = [];
    const isRead = await this.#try(() => readFiles(this.#client, turn, files));
    // Another call may have sent a message meanwhile.
    if (!isRead || this.getSnapshot().turns[at] !== turn || this.getSnapshot().isAnswering) return { kind: "failed" };
    const all = [...files, ...more];
    const again = { message: text, answers: turn.answers, attachments: all.length > 0 ? all : undefined };
    if (await this.#send(again, { at, ...(onConflict && { onConflict }) })) return { kind: "done" };
    return this.#toFailure(this.getSnapshot().error);
  };

  readonly reconnect = (): void => {
    const { status, connection } = this.getSnapshot();
    if (status !== "ready") void this.load();
    else if (connection === "broken") this.#followLast();
    else this.#stream?.reconnect();
  };

  readonly setShown = (isShown: boolean): void => {
    const wasShown = this.#isShown;
    this.#isShown = isShown;
    if (!isShown) this.#leaveHidden();
    else if (!wasShown && this.#stream === undefined) this.#followLast();
  };

  readonly close = (): void => {
    this.#watch?.stop();
    this.#watch = undefined;
    this.#loading.abort();
    this.#loaded = undefined;
    this.#closing.abort();
    this.#closing = new AbortController();
    this.#leaveStream();
  };

  /** Stops following while hidden, but only after the server has accepted the message. */
  #leaveHidden(): void {
    if (this.#isShown || !this.getSnapshot().isAnswering) return;
    this.#show();
    if (!this.getSnapshot().turns.at(-1)?.response.id) return;
    this.#leaveStream();
    this.#change({ connection: "idle" });
  }

  async #load(id: string, signal: AbortSignal): Promise<void> {
    try {
      // This load must be the newest before its request can cause another one.
      await Promise.resolve();
      const conversation = await this.#client.getConversation(id, { signal });
      if (signal.aborted) return;
      this.#leaveStream();
      this.#change({ ...toLoadedState(conversation, this.getSnapshot().turns), error: undefined });
      this.#beginNext();
      this.#followLast();
      // The list may have changed during the load.
      this.#watch?.compare();
    } catch (cause) {
      if (signal.aborted) return;
      const isMissing = cause instanceof SheafApiError && cause.status === 404;
      this.#change({ status: isMissing ? "missing" : "failed", error: toError(cause) });
    }
  }

  async #changeBranch(change: (id: string) => Promise<unknown>): Promise<RevertOutcome> {
    const { id } = this.getSnapshot();
    if (id === undefined) return { kind: "failed" };
    try {
      await change(id);
    } catch (cause) {
      return this.#toFailure(toError(cause));
    }
    await this.load();
    this.#options.onChange?.(id);
    return { kind: "done" };
  }

  #toFailure(error: Error | undefined): RevertOutcome {
    const isConflict = error instanceof SheafApiError && error.errorCode === "FILES_CHANGED";
    this.#change({ error: isConflict ? undefined : error });
    if (!isConflict) return { kind: "failed" };
    return { kind: "conflict", files: error.details.split("\n").filter((line) => line !== "") };
  }

  async #queue(message: OutgoingMessage): Promise<boolean> {
    // A new conversation has its id once its first message is accepted.
    await this.#accepted;
    if (this.getSnapshot().id === undefined) return false;
    const request = new AbortController();
    const { signal } = request;
    // The head of the answer shows that the server has the message.
    const onConnection = (state: ConnectionState): void => void (state === "open" && request.abort());
    const isRefused = !(await this.#try(async () => {
      const body = { ...(await toChatRequest(this.getSnapshot(), this.#options, message)), whenBusy: "queue" } as const;
      await this.#client.chat(body, { signal, onConnection }).readToEnd();
    }, signal));
    if (isRefused && !signal.aborted) return false;
    // The response may have ended meanwhile: then the message is the newest turn.
    if (!this.getSnapshot().isAnswering) await this.load();
    else await this.arrange([]);
    this.#options.onChange?.(this.getSnapshot().id ?? "");
    return true;
  }

  /** Adds the turn of the next message, which starts at the server, and whose response is followed from its start. */
  #beginNext(): void {
    const { isAnswering, waiting, turns, settings } = this.getSnapshot();
    const [next, ...rest] = waiting;
    if (isAnswering || next === undefined) return;
    const { now = Date.now } = this.#options;
    const turn = toNextTurn(next, settings.mode, new Date(now()).toISOString());
    this.#change({ ...toTurnsState([...turns, turn]), waiting: rest });
  }

  /** Sends a message. `place`: the turn that it replaces. */
  #send(message: OutgoingMessage, place?: MessagePlace): Promise<boolean> {
    const { turns: before, nextVersions } = this.getSnapshot();
    const { now = Date.now } = this.#options;
    const created = new Date(now()).toISOString();
    const replaced = place && before[place.at]!;
    const others = replaced ? (replaced.versions ?? [replaced.response.id]) : nextVersions;
    const turn = toFirstTurn(message, this.getSnapshot().settings.mode, created, others);
    // A load that runs now lacks this turn.
    this.#loading.abort();
    const signal = this.#leaveStream();
    this.#reasoning = this.#readReasoning({ isCut: false });
    const turns = [...before.slice(0, place?.at), turn];
    this.#change({ ...toTurnsState(turns), nextVersions: [], connection: "connecting", error: undefined });
    this.#accepted = new Promise((resolve) => {
      const send = async (): Promise<void> => {
        const { at, ...choice } = place ?? {};
        const parent = at !== undefined && { parentResponseId: before[at - 1]?.response.id ?? null };
        const isAccepted = await this.#post({ ...message, ...parent, ...choice }, signal, () => resolve(true));
        if (!isAccepted && !signal.aborted) {
          this.#change({ ...toTurnsState(before), nextVersions, isCancelling: false });
        }
        resolve(isAccepted);
      };
      void send();
    });
    return this.#accepted;
  }

  /** Sends a message and follows its response. @returns true if the server accepted it */
  async #post(message: PlacedMessage, signal: AbortSignal, onAccepted: () => void): Promise<boolean> {
    try {
      const request = new AbortController();
      // The request continues until the server has the message, even if the caller leaves.
      signal.addEventListener("abort", () => void this.#accepted.finally(() => request.abort()));
      const options = { ...this.#toStreamOptions(signal), signal: request.signal };
      const stream = this.#client.chat(await toChatRequest(this.getSnapshot(), this.#options, message), options);
      await this.#follow(stream, signal, onAccepted);
      return stream.responseId !== undefined;
    } catch (cause) {
      // An attachment can't be read.
      this.#change({ connection: "idle", error: toError(cause) });
      return false;
    }
  }

  /** Continues the last response after its last known event. */
  #followLast(): void {
    const { response, reasoning: from } = this.getSnapshot().turns.at(-1) ?? {};
    const responseId = response?.id || this.#stream?.responseId;
    if (!this.#isShown || response?.status !== "streaming" || responseId === undefined) return;
    const start = response.metadata.lastEventId === undefined ? { snapshot: true } : { from: response };
    const signal = this.#leaveStream();
    this.#change({ error: undefined });
    this.#reasoning = this.#readReasoning({ from, isCut: true });
    const { reasoning } = this.#options;
    const options = { ...start, reasoning, ...this.#toStreamOptions(signal) };
    void this.#follow(this.#client.follow(responseId, options), signal);
  }

  #readReasoning(start: Pick<Parameters<typeof createReasoningReader>[0], "from" | "isCut">) {
    return this.#options.reasoning
      ? createReasoningReader({ ...start, now: this.#options.now ?? Date.now })
      : undefined;
  }

  #toStreamOptions(signal: AbortSignal) {
    return {
      signal,
      onConnection: (connection: ConnectionState): void => {
        if (!signal.aborted) this.#change({ connection });
      },
    };
  }

  /** Reads a stream to its end. Never throws: the state shows a stream that broke. */
  async #follow(stream: ResponseStream, signal: AbortSignal, onAccepted?: () => void): Promise<void> {
    this.#stream = stream;
    let isAccepted = false;
    try {
      const reader = this.#reasoning;
      await stream.readToEnd((event) => {
        if (!signal.aborted) {
          reader?.push(event);
          this.#requestFrame();
        }
        if (isAccepted) return;
        isAccepted = true;
        if (!signal.aborted) this.#begin(stream);
        else if (stream.conversationId !== undefined) this.#options.onChange?.(stream.conversationId);
        onAccepted?.();
        this.#leaveHidden();
      });
      if (!signal.aborted) this.#end(stream);
    } catch (cause) {
      if (signal.aborted) return;
      this.#reasoning?.end();
      this.#show();
      const connection = stream.responseId === undefined ? "idle" : "broken";
      this.#change({ connection, isCancelling: false, error: toError(cause) });
    }
  }

  /** Stops following. @returns the signal of the next stream. */
  #leaveStream(): AbortSignal {
    this.#following.abort();
    this.#following = new AbortController();
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    this.#stream = undefined;
    this.#reasoning = undefined;
    return this.#following.signal;
  }

  /** Sets the conversation's id, which arrives with the first event of a response. */
  #begin({ conversationId }: ResponseStream): void {
    if (conversationId === undefined || this.getSnapshot().id === conversationId) return;
    this.#change({ id: conversationId, title: toTitle(this.getSnapshot().turns[0]) });
    this.#options.onChange?.(conversationId);
  }

  #end(stream: ResponseStream): void {
    this.#reasoning?.end();
    this.#show();
    this.#change({ connection: "idle", isCancelling: false });
    if (stream.conversationId !== undefined) this.#options.onChange?.(stream.conversationId);
    if (this.getSnapshot().waiting.length > 0) void this.load();
    // The list may show the next response already.
    else this.#watch?.compare();
  }

  #requestFrame(): void {
    const { schedule = scheduleFrame } = this.#options;
    this.#cancelFrame ??= schedule(() => this.#show());
  }

  /** Shows the events that arrived since the last time. */
  #show(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
    const { turns } = this.getSnapshot();
    const last = turns.at(-1);
    const response = this.#stream?.response;
    if (last === undefined || response === undefined || response.id === "") return;
    const reasoning = this.#reasoning?.read() ?? last.reasoning;
    if (response === last.response && reasoning === last.reasoning) return;
    const shown = [...turns.slice(0, -1), toAnsweredTurn(last, response, reasoning)];
    this.#change({ ...toTurnsState(shown), waiting: toStillWaiting(this.getSnapshot().waiting, shown) });
  }

  #change(change: Partial<ConversationState>): void {
    this.#store.set({ ...this.getSnapshot(), ...change });
  }

  /** @param signal a request that it ended did not fail */
  async #try(request: () => Promise<unknown>, signal?: AbortSignal): Promise<boolean> {
    this.#change({ error: undefined });
    try {
      await request();
      return true;
    } catch (cause) {
      if (signal?.aborted !== true) this.#change({ error: toError(cause) });
      return false;
    }
  }
}
