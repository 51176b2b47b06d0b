import type { ConversationState } from "@sheaf/client/chat";
import type { RefObject, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../elements/icon.tsx";
import { listen } from "../elements/listen.ts";
import { FoundRows } from "../elements/remembered.ts";
import type { VirtualListHandle } from "../list/use-virtual-list.ts";
import { VirtualList } from "../list/virtual-list.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { Messages } from "../messages/messages.ts";
import { DocumentView } from "../views/document-view.tsx";
import { readText } from "../views/metadata.ts";
import type { DocumentRowData } from "./arrange-rows.ts";
import { TotalsRow, WorkingRow } from "./end-row.tsx";
import { FindBar } from "./find-bar.tsx";
import { HookRow } from "./hook-row.tsx";
import { MessageRow } from "./message-row.tsx";
import { ReasoningRow } from "./reasoning-row.tsx";
import { createRowBuilder, estimateHeight, type Row } from "./rows.ts";
import { SubagentRow } from "./subagent-row.tsx";

interface ConversationViewProps {
  readonly state: ConversationState;
  readonly list: RefObject<VirtualListHandle | null>;
  /** What was searched for when the conversation was opened. */
  readonly sought: Sought | undefined;
}

/** Words that a search found in a conversation. */
export interface Sought {
  readonly id: string;
  readonly text: string;
}

/** Messages and documents, as one long list. */
export function ConversationView({ state, list, sought }: ConversationViewProps) {
  const messages = useMessages();
  const [builder] = useState(createRowBuilder);
  const [isFollowing, setFollowing] = useState(true);
  const rows = useMemo(() => builder.toRows(state.turns), [builder, state.turns]);
  const find = useFind(sought);
  return (
    <div class="conversation" id="conversation">
      {find.text === undefined ? undefined : (
        <FindBar
          rows={rows}
          list={list}
          sought={find.text}
          field={find.field}
          onFind={find.setRow}
          onClose={() => find.close(list.current)}
        />
      )}
      <FoundRows.Provider value={find.keys}>
        <VirtualList
          rows={rows}
          estimate={estimateHeight}
          render={renderRow}
          label={(row) => toLabel(row, messages)}
          name={messages.conversation}
          isBusy={state.isAnswering}
          handle={list}
          onFollow={setFollowing}
        />
      </FoundRows.Provider>
      {isFollowing ? undefined : (
        <button type="button" class="to-end" onClick={() => list.current?.goToEnd()}>
          <Icon name="arrowDown" />
          <span>{messages.toEnd}</span>
        </button>
      )}
    </div>
  );
}

/** Words to find in the conversation, with Ctrl+F or from a search, and the rows in which they were found. */
function useFind(sought: Sought | undefined) {
  const [text, setText] = useState(sought?.text);
  const [row, setRow] = useState<Row>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => (sought === undefined ? undefined : setText(sought.text)), [sought]);
  useEffect(
    () =>
      listen(document, ["keydown"], (event: KeyboardEvent) => {
        if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
          return;
        // The second time, or in a dialog, the browser finds.
        if (document.activeElement === field.current || document.querySelector("dialog[open]")) return;
        event.preventDefault();
        setText((before) => before ?? "");
        setTimeout(() => field.current?.select());
      }),
    [],
  );
  const keys = useMemo(() => {
    if (row === undefined) return [];
    return [row, ...(row.kind === "document" ? (row.parts ?? []) : [])].map(({ key }) => key);
  }, [row]);
  const close = (list: VirtualListHandle | null): void => {
    setText(undefined);
    setRow(undefined);
    if (row) list?.focus(row.key);
  };
  return { text, keys, field, setRow, close };
}

function renderRow(row: Row): VNode {
  if (row.kind === "message") return <MessageRow row={row} />;
  if (row.kind === "reasoning") return <ReasoningRow row={row} />;
  if (row.kind === "working") return <WorkingRow row={row} />;
  if (row.kind === "totals") return <TotalsRow row={row} />;
  if (row.kind === "hook") return <HookRow row={row} />;
  if (isSubagent(row)) return <SubagentRow row={row} />;
  return <DocumentView document={row.document} responseId={row.responseId} isCurrent={row.isCurrent} />;
}

function isSubagent({ document: { metadata } }: DocumentRowData): boolean {
  return readText(metadata, "toolName") === "run_agent";
}

function toLabel(row: Row, messages: Messages): string {
  if (row.kind === "message") return messages.yourMessage;
  if (row.kind === "reasoning") return messages.reasoning;
  if (row.kind === "hook") return messages.hook;
  if (row.kind !== "document") return messages.endOfAnswer;
  const { type, sequence } = row.document;
  if (isSubagent(row)) return messages.documentPosition({ type: messages.subagent, position: sequence });
  const name = Object.hasOwn(messages.documentTypes, type) ? messages.documentTypes[type]! : type;
  return messages.documentPosition({ type: name, position: sequence });
}
