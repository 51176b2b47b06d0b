import type { ConversationState } from "@sheaf/client/chat";
import type { RefObject, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Icon } from "../elements/icon.tsx";
import { FoundRows } from "../elements/remembered.ts";
import type { VirtualListHandle } from "../list/use-virtual-list.ts";
import { VirtualList } from "../list/virtual-list.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { Messages } from "../messages/messages.ts";
import { DocumentView } from "../views/document-view.tsx";
import { readText } from "../views/metadata.ts";
import type { DocumentRowData } from "./arrange-rows.ts";
import { TotalsRow, WorkingRow } from "./end-row.tsx";
import { FindBar, type Sought } from "./find-bar.tsx";
import { HookRow } from "./hook-row.tsx";
import { MessageRow } from "./message-row.tsx";
import { ReasoningRow } from "./reasoning-row.tsx";
import { createRowBuilder, estimateHeight, type Row } from "./rows.ts";
import { SubagentRow } from "./subagent-row.tsx";

interface ConversationViewProps {
  readonly state: ConversationState;
  readonly list: RefObject<VirtualListHandle | null>;
  /** The search that opened the conversation. */
  readonly sought: Sought | undefined;
}

/** Messages and documents, as one long list. */
export function ConversationView({ state, list, sought }: ConversationViewProps) {
  const messages = useMessages();
  const [builder] = useState(createRowBuilder);
  const [isFollowing, setFollowing] = useState(true);
  const [found, setFound] = useState<readonly string[]>([]);
  const rows = useMemo(() => builder.toRows(state.turns), [builder, state.turns]);
  return (
    <div class="conversation" id="conversation">
      <FindBar rows={rows} list={list} sought={sought} onFind={setFound} />
      <FoundRows.Provider value={found}>
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
