import { SheafApiError, type SheafClient } from "@sheaf/client";
import { createChats } from "@sheaf/client/chat";
import type { ModelInfo, WorkspaceList } from "@sheaf/protocol";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { forgetDrafts } from "../composer/kept-draft.ts";
import { ConversationPage } from "../conversation/conversation-page.tsx";
import type { Sought } from "../conversation/find-bar.tsx";
import { listen } from "../elements/listen.ts";
import { useLoaded } from "../elements/use-loaded.ts";
import { useStore } from "../elements/use-store.ts";
import type { Messages } from "../messages/messages.ts";
import { describeFailure } from "../messages/describe-failure.ts";
import { useMessages } from "../messages/use-messages.ts";
import type { SessionPort } from "../session/session.ts";
import { findWriter, forgetWriter } from "../session/writer.ts";
import { createConversationListStore } from "../sidebar/conversation-list-store.ts";
import { DeletionToasts } from "../sidebar/deletion-toasts.tsx";
import { KeysDialog } from "../sidebar/keys-dialog.tsx";
import { SettingsDialog } from "../sidebar/settings-dialog.tsx";
import { Sidebar } from "../sidebar/sidebar.tsx";
import { useDeletions } from "../sidebar/use-deletions.ts";
import { useDrawer } from "../sidebar/use-drawer.ts";
import { useAttention } from "../attention/use-attention.ts";
import { findStorage } from "./find-storage.ts";
import { goToConversation, useRoute } from "./use-route.ts";

interface WorkplaceProps {
  readonly client: SheafClient;
  readonly session: SessionPort;
  readonly onSignedOut: () => void;
}

const noModels: readonly ModelInfo[] = [];

/** The page of a signed-in user: conversations at the side, one of them in the middle. */
export function Workplace({ client, session, onSignedOut }: WorkplaceProps) {
  const messages = useMessages();
  const route = useRoute();
  const drawer = useDrawer();
  const [sought, setSought] = useState<Sought>();
  const [dialog, setDialog] = useState<"settings" | "keys">();
  const describe = useRef((error: unknown) => describeRefusal(error, messages));
  describe.current = (error) => describeRefusal(error, messages);
  const ports = useMemo(
    () => ({ client, onSignedOut, describe: (error: unknown) => describe.current(error) }),
    [client, onSignedOut],
  );
  // Another user of this browser gets another name, so the lists stay apart.
  const chats = useMemo(() => createChats(client, { share: `sheaf-chats ${findWriter(findStorage())}` }), [client]);
  const list = useMemo(() => createConversationListStore({ ...ports, chats }), [ports, chats]);
  // If this fails, the server's default model still works.
  const models = useLoaded<readonly ModelInfo[]>(() => client.listModels().catch(() => []), [client]) ?? noModels;
  const workspaces = useWorkspaces(client);
  useEffect(list.follow, [list]);
  useEffect(() => listen(window, ["online"], chats.reconnect), [chats]);
  const attention = useAttention({ client, chats, current: route });
  const { deletions, remove } = useDeletions({
    ...ports,
    current: route,
    onFailure: list.fail,
    onEnd: attention.forget,
  });
  const { usage } = useStore(list).conversations.find(({ id }) => id === route) ?? {};
  const page = useConversationKey(route);
  return (
    <div class="workplace">
      {(["conversation", "composer"] as const).map((id) => (
        <a key={id} class="skip-link" href={`#${id}`} inert={drawer.isShown} onClick={(event) => focusPart(event, id)}>
          {id === "composer" ? messages.skipToComposer : messages.skipToAnswer}
        </a>
      ))}
      <Sidebar
        list={list}
        current={route}
        drawer={drawer}
        attention={attention}
        deletions={deletions}
        onRemove={(id, title) => {
          drawer.hide();
          remove(id, title);
        }}
        onSelect={({ id, match }) => {
          drawer.hide();
          const [range] = match === undefined || match.where === "title" ? [] : match.ranges;
          setSought(range && match && { id, text: match.text.slice(range.start, range.end) });
        }}
        onDialog={setDialog}
      />
      <DeletionToasts deletions={deletions} />
      {drawer.isShown ? <div class="sidebar-shade" onClick={drawer.hide} /> : undefined}
      <div class="beside-sidebar" inert={drawer.isShown}>
        <ConversationPage
          key={page.key}
          id={route}
          ports={ports}
          models={models}
          workspaces={workspaces}
          chats={chats}
          attention={attention}
          usage={usage}
          onNamed={(id) => {
            page.keep(id);
            goToConversation(id, { replace: true });
          }}
          onRemove={remove}
          onShowSidebar={drawer.show}
          sought={sought?.id === route ? sought : undefined}
        />
      </div>
      {dialog === "keys" ? <KeysDialog onClose={() => setDialog(undefined)} /> : undefined}
      {dialog === "settings" ? (
        <SettingsDialog
          onClose={() => setDialog(undefined)}
          onSignOut={() => {
            attention.clear();
            forgetDrafts(findStorage("tab"));
            forgetWriter(findStorage());
            void session.close().finally(onSignedOut);
          }}
        />
      ) : undefined}
    </div>
  );
}

/** Returns a key for each conversation; a new conversation retains its elements when it gets its id. */
function useConversationKey(route: string | undefined): { readonly key: string; readonly keep: (id: string) => void } {
  const named = useRef<{ readonly id: string; readonly key: string } | undefined>(undefined);
  const count = useRef(0);
  const last = useRef<string | undefined>(route);
  if (last.current !== route) {
    if (route === undefined) count.current += 1;
    last.current = route;
  }
  const fresh = `new-${count.current}`;
  const key = route === undefined ? fresh : named.current?.id === route ? named.current.key : route;
  return {
    key,
    keep: (id) => {
      named.current = { id, key };
    },
  };
}

function useWorkspaces(client: SheafClient): WorkspaceList["workspaces"] {
  const [workspaces, setWorkspaces] = useState<WorkspaceList["workspaces"]>([]);
  useEffect(() => {
    // If this fails, the server's default workspace still works.
    const ask = (): void => void client.listWorkspaces().then(setWorkspaces, () => undefined);
    // The branch may have changed while the user was elsewhere.
    const askAgain = (): void => (document.hidden ? undefined : ask());
    ask();
    return listen(document, ["visibilitychange"], askAgain);
  }, [client]);
  return workspaces;
}

/** Moves only the focus: the address contains the conversation's id, so a skip link must not change it. */
function focusPart(event: Event, id: string): void {
  event.preventDefault();
  const part = document.getElementById(id);
  const target = part?.querySelector<HTMLElement>("textarea, [role=article][tabindex='0'], .scroller") ?? part;
  target?.focus();
}

/** Describes why a request failed and what to do. */
function describeRefusal(error: unknown, messages: Messages): string {
  if (!(error instanceof SheafApiError)) return messages.unreachable;
  const { errorCode, message } = error;
  if (errorCode === "CONVERSATION_BUSY") return messages.busy;
  if (errorCode === "LIMIT_REACHED") return messages.limitReached;
  // The API itself is overloaded: its requests reach no provider.
  const isOwn = ["USAGE", "OVERLOADED"].includes(errorCode);
  if (isOwn || !Object.hasOwn(messages.failures.answer, errorCode)) return messages.requestFailed({ message });
  const { title, advice } = describeFailure(errorCode, false, messages);
  return messages.failedWith({ title, advice, details: message });
}
