/** A conversation as the rows of one long list. */
import type { Reasoning, Turn } from "@sheaf/client/chat";
import type { ChatResponse, Document } from "@sheaf/protocol";
import { createIncrementalMap } from "../elements/map-incrementally.ts";
import type { ShownDocument } from "../views/view.ts";
import { type ArrangedRow, createRowArranger, type DocumentRowData } from "./arrange-rows.ts";

export interface MessageRowData {
  readonly kind: "message";
  readonly key: string;
  readonly message: string;
  readonly attachments: Turn["attachments"];
  readonly versions: Turn["versions"];
  /** Files of earlier messages to the same response, which its files follow (X48). */
  readonly filesBefore?: number;
  /** Id of the message's response; "" until the server accepted the message. */
  readonly responseId: string;
  /** Time of the message; "" if the user added it while the response ran. */
  readonly created: string;
  /** True if the answer is complete: the user can undo it or fork the conversation. */
  readonly isSettled: boolean;
}

/** The model's reasoning during one answer. */
export interface ReasoningRowData {
  readonly kind: "reasoning";
  readonly key: string;
  readonly responseId: string;
  readonly reasoning: Reasoning | undefined;
  /** True if the server has more of the reasoning than the page. */
  readonly isPartial: boolean;
}

/** The sign that an answer still runs. */
export interface WorkingRowData {
  readonly kind: "working";
  readonly key: string;
  readonly created: string;
  /** True if a call waits for the user's decision. */
  readonly isWaiting: boolean;
}

export interface TotalsRowData {
  readonly kind: "totals";
  readonly key: string;
  /** The message that was answered. */
  readonly message: string;
  readonly response: ChatResponse;
  /** True for the last answer. */
  readonly isCurrent: boolean;
}

/** A row of the list. A row stays the same object while its content stays the same. */
export type Row = MessageRowData | ReasoningRowData | ArrangedRow | WorkingRowData | TotalsRowData;

export interface RowBuilder {
  readonly toRows: (turns: readonly Turn[]) => readonly Row[];
}

export function createRowBuilder(): RowBuilder {
  const builders: TurnRowBuilder[] = [];
  return {
    toRows(turns) {
      builders.length = Math.min(builders.length, turns.length);
      const rows = turns.map((turn, index) => {
        builders[index] ??= createTurnRowBuilder(index);
        return builders[index].toRows(turn, index === turns.length - 1);
      });
      return rows.length === 1 ? rows[0]! : rows.flat();
    },
  };
}

interface TurnRowBuilder {
  readonly toRows: (turn: Turn, isCurrent: boolean) => readonly Row[];
}

/** Creates a builder of the rows for one message and its answer. */
function createTurnRowBuilder(index: number): TurnRowBuilder {
  let known: { readonly turn: Turn; readonly isCurrent: boolean; readonly rows: readonly Row[] } | undefined;
  let documents:
    | { readonly key: string; readonly toRows: (documents: readonly Document[]) => readonly DocumentRowData[] }
    | undefined;
  const keepMessage = createKeeper<MessageRowData>();
  const keepReasoning = createKeeper<ReasoningRowData>();
  const keepWorking = createKeeper<WorkingRowData>();
  const arrangeRows = createRowArranger();
  return {
    toRows(turn, isCurrent) {
      if (known?.turn === turn && known.isCurrent === isCurrent) return known.rows;
      const { message, attachments, versions, response } = turn;
      const { id: responseId, created, status } = response;
      const key = `${responseId} ${isCurrent}`;
      if (documents?.key !== key) {
        documents = { key, toRows: createIncrementalMap((document) => toDocumentRow(document, responseId, isCurrent)) };
      }
      const isSettled = responseId !== "" && status !== "streaming";
      const rows: readonly Row[] = [
        keepMessage({
          kind: "message",
          key: `${index}/message`,
          message,
          attachments,
          versions,
          responseId,
          created,
          isSettled,
        }),
        ...toReasoningRow(turn, index).map(keepReasoning),
        ...placeMessages(arrangeRows(documents.toRows(response.documents), response.hooks ?? [], responseId), turn),
        status === "streaming"
          ? keepWorking({
              kind: "working",
              key: `${index}/end`,
              created,
              isWaiting: (response.approvals?.length ?? 0) > 0,
            })
          : { kind: "totals", key: `${index}/end`, message, response, isCurrent },
      ];
      known = { turn, isCurrent, rows };
      return rows;
    },
  };
}

/** Inserts the messages that the user added during an answer, each where the answer was at that time (C242). */
function placeMessages(rows: readonly ArrangedRow[], { attachments = [], response }: Turn): readonly Row[] {
  const { id: responseId, messages = [] } = response;
  if (messages.length === 0) return rows;
  const placed: Row[] = [...rows];
  let filesBefore = attachments.length;
  for (const [index, { message, attachments: files, after }] of messages.entries()) {
    const isLater = (row: Row): boolean => row.kind === "document" && row.document.sequence > after;
    const at = placed.findIndex(isLater);
    const row = { message, attachments: files, filesBefore, responseId, created: "", isSettled: false } as const;
    const key = `${responseId}/message/${index}`;
    placed.splice(at < 0 ? placed.length : at, 0, { kind: "message", key, versions: undefined, ...row });
    filesBefore += files?.length ?? 0;
  }
  return placed;
}

/** Returns one row if the model reported reasoning, otherwise an empty list. */
function toReasoningRow({ reasoning, response }: Turn, index: number): readonly ReasoningRowData[] {
  const hasEnded = response.status !== "streaming";
  const isPartial = hasEnded && (reasoning === undefined || (reasoning.isCut && reasoning.durationMs === undefined));
  if (reasoning === undefined && !(hasEnded && (response.usage.reasoningTokens ?? 0) > 0)) return [];
  const { id: responseId } = response;
  return [{ kind: "reasoning", key: `${index}/reasoning`, responseId, reasoning, isPartial }];
}

/** Returns the previous value if the new one has the same fields. */
function createKeeper<Value extends object>(): (value: Value) => Value {
  let kept: Value | undefined;
  return (value) => {
    const isSame =
      kept !== undefined && Object.entries(value).every(([name, field]) => kept![name as keyof Value] === field);
    if (!isSame) kept = value;
    return kept!;
  };
}

function toDocumentRow(document: Document, responseId: string, isCurrent: boolean): DocumentRowData {
  // The client's reducer guarantees these fields, even for unknown documents.
  const shown = document as unknown as ShownDocument;
  return { kind: "document", key: toDocumentKey(responseId, document.id), document: shown, responseId, isCurrent };
}

export function toDocumentKey(responseId: string, documentId: string): string {
  return `${responseId}/${documentId}`;
}

/** Estimates the height of a row in pixels, until it is measured. */
export function estimateHeight(row: Row): number {
  if (row.kind === "totals" || row.kind === "working" || row.kind === "reasoning" || row.kind === "hook") return 44;
  if (row.kind === "message") return 72 + Math.ceil(row.message.length / 80) * 24 + (row.attachments ? 112 : 0);
  const { type, content } = row.document;
  if (type === "tool_call" || type === "todo_update") return 50;
  const length = content?.length ?? 0;
  if (type === "text") return 12 + Math.ceil(length / 80) * 26;
  return 74 + Math.min(24, Math.ceil(length / 40)) * 20;
}
