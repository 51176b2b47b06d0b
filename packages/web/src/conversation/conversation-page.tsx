import { SheafApiError, type SheafClient } from "@sheaf/client";
import {
  type ChatsStore,
  type ConversationState,
  type ConversationStore,
  createConversation,
  type OutgoingMessage,
} from "@sheaf/client/chat";
import type { ConversationSummary, Mode, ModelInfo, WorkspaceList } from "@sheaf/protocol";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AttentionStore } from "../attention/attention-store.ts";
import { useTabTitle } from "../attention/use-tab-title.ts";
import { ApprovalPanel } from "../approvals/approval-panel.tsx";
import { focusComposer } from "../composer/focus-composer.ts";
import { Composer } from "../composer/composer.tsx";
import type { CompletionPort } from "../composer/completion-sources.ts";
import { emptyDraft, toSentFiles } from "../composer/draft.ts";
import { useDrafts, useFileLimits } from "../composer/use-drafts.ts";
import { MessageBar } from "../composer/message-bar.tsx";
import { WaitingMessages } from "../composer/waiting-messages.tsx";
import { WorkspaceName } from "../editor/editor-link.tsx";
import { Button } from "../elements/button.tsx";
import { listen } from "../elements/listen.ts";
import { RememberedValues } from "../elements/remembered.ts";
import { useStore } from "../elements/use-store.ts";
import type { VirtualListHandle } from "../list/use-virtual-list.ts";
import { useMessages } from "../messages/use-messages.ts";
import { isSignedOut } from "../session/session.ts";
import { createTodoReader } from "../todos/fold-todos.ts";
import { TodoPanel } from "../todos/todo-tree.tsx";
import { findShownId } from "./arrange-rows.ts";
import { EmptyConversation, WorkspaceChoice } from "./empty-conversation.tsx";
import { ConversationHead } from "./conversation-head.tsx";
import { findWindowTokens } from "./conversation-usage.ts";
import { ConversationContext, type ConversationPort } from "./conversation-port.ts";
import { ConversationView } from "./conversation-view.tsx";
import type { Sought } from "./find-bar.tsx";
import { ConnectionNotice, LoadFailure, Notice } from "./conversation-notices.tsx";
import { ConversationActionsContext } from "./message-row.tsx";
import { toDocumentKey } from "./rows.ts";
import { useActions } from "./use-actions.tsx";
import { useAnswerNews } from "./use-answer-news.ts";

interface ConversationPageProps {
  readonly id: string | undefined;
  readonly ports: {
    readonly client: SheafClient;
    readonly onSignedOut: () => void;
    readonly describe: (error: unknown) => string;
  };
  readonly models: readonly ModelInfo[];
  readonly workspaces: WorkspaceList["workspaces"];
  readonly chats: ChatsStore;
  readonly attention: AttentionStore;
  /** Reports the id of a new conversation. */
  readonly onNamed: (id: string) => void;
  /** Usage from the list of conversations. */
  readonly usage: ConversationSummary["usage"];
  readonly onRemove: (id: string, title: string) => void;
  readonly onShowSidebar: () => void;
  readonly sought: Sought | undefined;
}

/** One conversation, with all its actions. */
export function ConversationPage(props: ConversationPageProps) {
  const store = useConversationStore(props);
  const state = useStore(store);
  const response = state.turns.at(-1)?.response;
  const messages = useMessages();
  const isOnline = useOnline();
  const drafts = useDrafts(props.ports.client, () => store.getSnapshot().id);
  const readLimits = useFileLimits(props.ports.client);
  const list = useRef<VirtualListHandle>(null);
  const [remembered] = useState(() => new Map<string, unknown>());
  useAnswerNews(state);
  useTabTitle(state.title, useStore(props.attention).news.size);
  useEffect(() => {
    if (state.id !== undefined && response !== undefined) props.attention.follow(state.id, response);
  }, [state.id, response?.id, response?.status, state.approvals]);
  useEffect(() => {
    if (isSignedOut(state.error)) props.ports.onSignedOut();
  }, [state.error]);
  const send = async (message: OutgoingMessage): Promise<boolean> => {
    list.current?.goToEnd();
    return store.send(message);
  };
  const [edit, setEdit] = useState<MessageEdit>();
  const edited = state.turns.find((turn) => turn.response.id === edit?.responseId);
  const sendDraft = async (): Promise<void> => {
    const draft = await drafts.take();
    if (!draft) return;
    if (edit && edited) {
      // The text stays in the field until the server has the message.
      drafts.giveBack(draft);
      const message = { text: draft.text.trim(), attachments: toSentFiles(draft.files) };
      return actions.sendEdited(edit.responseId, message, () => {
        setEdit(undefined);
        const forget = drafts.take().then((sent) => sent && drafts.forget(sent));
        void forget.then(() => drafts.write(edit.before));
      });
    }
    if (await send({ message: draft.text.trim(), attachments: toSentFiles(draft.files) })) return drafts.forget(draft);
    // A message that the server doesn't have returns to the field.
    drafts.giveBack(draft);
    const { error } = store.getSnapshot();
    const isMissing = error instanceof SheafApiError && error.status === 404;
    // If the server has lost files, upload them again and repeat the message.
    if (isMissing && (await drafts.renew())) await sendDraft();
  };
  const port = useConversationPort(state, list, isOnline, {
    buildPlan: () => {
      void store.configure({ mode: "agent" });
      void send({ message: messages.buildMessage });
    },
    sendAnswers: (answers, text) => void send({ message: text, answers }),
  });
  const workspace = props.workspaces.find(({ name }) => name === state.workspace) ?? props.workspaces[0];
  const place = workspace?.name ?? "";
  const completion: CompletionPort = {
    findFiles: (query, signal) => props.ports.client.findFiles(place, query, { signal }),
    findCommands: (query, signal) => props.ports.client.findCommands(place, query, { signal }),
  };
  const actions = useActions(props, store, state.id, (responseId, text) => {
    setEdit({ responseId, before: drafts.getSnapshot().text });
    drafts.write(text);
    focusComposer();
  });
  const start = (prompt: string, mode: Mode): void => {
    const isStart = (text: string): boolean => Object.values(messages.starts).some((each) => each.prompt === text);
    // The user's text stays; only an untouched suggestion is replaced.
    const { text } = drafts.getSnapshot();
    drafts.write(isStart(text) ? prompt : prompt + text);
    void store.configure({ mode });
    focusComposer();
  };
  // The page shows other failures elsewhere.
  const hasRefusal = state.error !== undefined && state.status === "ready" && state.connection !== "broken";
  return (
    <RememberedValues.Provider value={remembered}>
      <ConversationContext.Provider value={port}>
        <ConversationActionsContext.Provider value={actions}>
          <WorkspaceName.Provider value={place}>
            <main class="main">
              <ConversationHead
                state={state}
                usage={props.usage}
                windowTokens={findWindowTokens(props.models, state.settings.model)}
                workspace={place}
                ports={{
                  ...props.ports,
                  comment: (text) => drafts.write(`${drafts.getSnapshot().text}\n${text}`.trimStart()),
                }}
                onShowSidebar={props.onShowSidebar}
                onRemove={props.onRemove}
                onRename={(title) => void store.rename(title)}
              />
              <div class="stage">
                <Stage
                  state={state}
                  store={store}
                  describe={props.ports.describe}
                  list={list}
                  sought={props.sought}
                  onStart={start}
                >
                  <WorkspaceChoice
                    workspaces={props.workspaces}
                    current={workspace}
                    onChange={(name) => void store.configure({ workspace: name })}
                  />
                </Stage>
              </div>
              <TodoPanel todos={port.todos} />
              <div class="dock">
                <ConnectionNotice state={state} isOnline={isOnline} onRetry={store.reconnect} />
                {state.nextVersions.length > 0 ? (
                  <Notice text={messages.undone}>
                    <Button
                      kind="quiet"
                      label={messages.showAgain}
                      onClick={() => actions.show(state.nextVersions.at(-1)!)}
                    />
                  </Notice>
                ) : undefined}
                <ApprovalPanel approvals={state.approvals} responseId={response?.id ?? ""} onDecide={store.decide} />
                <WaitingMessages
                  waiting={state.waiting}
                  arrange={store.arrange}
                  unqueue={store.unqueue}
                  onEdit={(text) => {
                    drafts.giveBack({ ...emptyDraft, text });
                    focusComposer();
                  }}
                />
                {edit && edited ? (
                  <MessageBar label={messages.editing} text={edited.message}>
                    <Button
                      icon="close"
                      label={messages.editingEnd}
                      onClick={() => {
                        setEdit(undefined);
                        drafts.write(edit.before);
                      }}
                    />
                  </MessageBar>
                ) : undefined}
                <Composer
                  drafts={drafts}
                  readLimits={readLimits}
                  describe={props.ports.describe}
                  settings={state.settings}
                  onConfigure={(settings) => void store.configure(settings)}
                  models={props.models}
                  completion={completion}
                  isStreaming={state.isAnswering}
                  isCancelling={state.isCancelling}
                  isOffline={!isOnline}
                  refusal={hasRefusal ? props.ports.describe(state.error) : undefined}
                  onSend={() => void sendDraft()}
                  onStop={() => void store.cancel()}
                />
              </div>
            </main>
          </WorkspaceName.Provider>
        </ConversationActionsContext.Provider>
      </ConversationContext.Provider>
    </RememberedValues.Provider>
  );
}

/** An earlier message whose text the user edits in the field. */
interface MessageEdit {
  readonly responseId: string;
  /** Text of the field before the edit. */
  readonly before: string;
}

interface StageProps {
  readonly state: ConversationState;
  readonly store: ConversationStore;
  readonly describe: (error: unknown) => string;
  readonly list: RefObject<VirtualListHandle | null>;
  readonly sought: Sought | undefined;
  readonly onStart: (prompt: string, mode: Mode) => void;
  /** The choice of a new conversation's workspace. */
  readonly children: ComponentChildren;
}

function Stage({ state, store, describe, list, sought, onStart, children }: StageProps) {
  const messages = useMessages();
  const { status, error } = state;
  if (status === "loading") return <p class="stage-note">{messages.loading}</p>;
  if (status !== "ready") {
    return <LoadFailure isMissing={status === "missing"} reason={describe(error)} onRetry={() => void store.load()} />;
  }
  if (state.turns.length === 0) return <EmptyConversation onStart={onStart}>{children}</EmptyConversation>;
  return <ConversationView state={state} list={list} sought={sought} />;
}

function useConversationStore({ id, ports, chats, onNamed }: ConversationPageProps): ConversationStore {
  const told = useRef(onNamed);
  told.current = onNamed;
  const [store] = useState(() =>
    createConversation(ports.client, {
      id,
      chats,
      reasoning: true,
      onChange: (changed) => {
        if (id === undefined) told.current(changed);
      },
    }),
  );
  useEffect(() => {
    void store.load();
    // A tab in the background leaves its connection to the others.
    const setShown = (): void => store.setShown(!document.hidden);
    setShown();
    const stop = listen(document, ["visibilitychange"], setShown);
    return () => {
      stop();
      store.close();
    };
  }, [store]);
  return store;
}

function useConversationPort(
  state: ConversationState,
  list: RefObject<VirtualListHandle | null>,
  isOnline: boolean,
  sending: Pick<ConversationPort, "buildPlan" | "sendAnswers">,
): ConversationPort {
  const [readTodos] = useState(createTodoReader);
  const todos = readTodos(state.turns);
  const canSend = isOnline && !state.isAnswering;
  const isPlanned = state.turns.at(-1)?.response.mode === "plan";
  const isAsking = state.turns.at(-1)?.response.metadata.finishReason === "clarification";
  const latest = useRef({ state, sending });
  latest.current = { state, sending };
  // The port changes only when views show a difference, instead of with every piece of an answer.
  return useMemo(
    () => ({
      todos,
      canSend,
      isPlanned,
      isAsking,
      waiting: toWaiting(state),
      buildPlan: () => latest.current.sending.buildPlan(),
      sendAnswers: (answers, text) => latest.current.sending.sendAnswers(answers, text),
      goToDocument: (responseId, documentId) => {
        const { turns } = latest.current.state;
        const { documents = [] } = turns.findLast(({ response }) => response.id === responseId)?.response ?? {};
        list.current?.goTo(toDocumentKey(responseId, findShownId(documents, documentId)));
      },
      findAnswers: (responseId) => {
        const { turns } = latest.current.state;
        return turns[turns.findIndex(({ response }) => response.id === responseId) + 1]?.answers;
      },
      findDocumentType: (responseId, documentId) =>
        latest.current.state.turns
          .findLast(({ response }) => response.id === responseId)
          ?.response.documents.find((document) => document.id === documentId)?.type,
    }),
    [todos, canSend, isPlanned, isAsking, state.approvals, list],
  );
}

/** Returns the documents of the last answer that wait for the user's decision. */
function toWaiting({ turns, approvals }: ConversationState): ReadonlySet<string> {
  const responseId = turns.at(-1)?.response.id ?? "";
  return new Set(approvals.map(({ documentId }) => toDocumentKey(responseId, documentId)));
}

/** True if the browser is online. */
function useOnline(): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => listen(window, ["online", "offline"], () => setOnline(navigator.onLine)), []);
  return isOnline;
}
