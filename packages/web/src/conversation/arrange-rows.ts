/** Arranges the rows of an answer: a subagent's calls inside its row, and hooks after the call that caused them. */
import type { Document, HookReport } from "@sheaf/protocol";
import { readNumber, readObject, readText } from "../views/metadata.ts";
import type { ForeignMetadata, ShownDocument } from "../views/view.ts";

export interface DocumentRowData {
  readonly kind: "document";
  readonly key: string;
  readonly document: ShownDocument;
  readonly responseId: string;
  /** True if the row belongs to the last answer. */
  readonly isCurrent: boolean;
  /** Rows of the subagent that this call started; absent if the page knows none. */
  readonly parts?: readonly ArrangedRow[];
}

/** A hook's report (N106). */
export interface HookRowData {
  readonly kind: "hook";
  readonly key: string;
  readonly report: ForeignMetadata;
}

export type ArrangedRow = DocumentRowData | HookRowData;

/** Arranges the rows of one answer as it grows. An unchanged row is the same object as before. */
export type ArrangeRows = (
  rows: readonly DocumentRowData[],
  hooks: readonly HookReport[],
  responseId: string,
) => readonly ArrangedRow[];

export function createRowArranger(): ArrangeRows {
  const kept = new Map<string, ArrangedRow>();
  const keep = <Kept extends ArrangedRow>(row: Kept): Kept => {
    const known = kept.get(row.key);
    if (known !== undefined && isSame(known, row)) return known as Kept;
    kept.set(row.key, row);
    return row;
  };
  return (all, hooks, responseId) => {
    const rows = withoutCancelledCalls(all);
    if (hooks.length === 0 && !rows.some(({ document }) => toAgentId(document) !== "")) return rows;
    const hookRows = hooks.map((report, index) => {
      return keep({ kind: "hook", key: `${responseId}/hook/${index}`, report });
    });
    return arrange(rows, hookRows).map(({ row, parts }) =>
      row.kind === "document" && parts.length > 0 ? keep({ ...row, parts }) : row,
    );
  };
}

/** Leaves out the errors of the calls that a stop cancelled: the end of the answer shows the stop once. */
function withoutCancelledCalls(rows: readonly DocumentRowData[]): readonly DocumentRowData[] {
  const isCancelled = ({ document: { type, metadata } }: DocumentRowData, isCall: boolean): boolean =>
    type === "error" &&
    readText(metadata, "errorCode") === "CANCELLED" &&
    (readText(metadata, "relatedDocumentId") !== "") === isCall;
  const last = rows.at(-1);
  return last !== undefined && isCancelled(last, false) ? rows.filter((row) => !isCancelled(row, true)) : rows;
}

interface Place {
  readonly row: ArrangedRow;
  readonly parts: ArrangedRow[];
}

function arrange(rows: readonly DocumentRowData[], hooks: readonly HookRowData[]): readonly Place[] {
  const places: Place[] = [];
  const agents = new Map<string, ArrangedRow[]>();
  const byDocument = Map.groupBy(hooks, ({ report }) => readText(report, "documentId"));
  const loose = [...(byDocument.get("") ?? [])];
  const refused = new Set(hooks.filter(isRefusal).map(({ report }) => readText(report, "documentId")));
  const placeLoose = (before: number): void => {
    while (loose.length > 0 && (readNumber(loose[0]!.report, "after") ?? 0) < before) {
      places.push({ row: loose.shift()!, parts: [] });
    }
  };
  for (const row of rows) {
    const { id, sequence, metadata } = row.document;
    const inside = agents.get(toAgentId(row.document));
    if (!inside) placeLoose(sequence);
    // The hook's row shows the reason already.
    if (isRefusalError(row.document, refused)) continue;
    const parts: ArrangedRow[] = [];
    if (readText(metadata, "toolName") === "run_agent") agents.set(readText(metadata, "toolCallId"), parts);
    const own = byDocument.get(id) ?? [];
    if (inside) inside.push(row, ...own);
    else places.push({ row, parts }, ...own.map((hook) => ({ row: hook, parts: [] })));
  }
  placeLoose(Infinity);
  return places;
}

/** True if the hook refused a call before it ran. */
function isRefusal({ report }: HookRowData): boolean {
  return readText(report, "event") === "PreToolUse" && ["block", "end"].includes(readText(report, "decision"));
}

function isRefusalError({ type, metadata }: ShownDocument, refused: ReadonlySet<string>): boolean {
  const isDenied = type === "error" && readText(metadata, "errorCode") === "PERMISSION_DENIED";
  return isDenied && refused.has(readText(metadata, "relatedDocumentId"));
}

/** Returns the call of the subagent that made a document (N74); "" if the main agent made it. */
function toAgentId({ metadata }: Pick<ShownDocument, "metadata">): string {
  const agent = readObject(metadata, "agent");
  return agent === undefined ? "" : readText(agent, "id");
}

function isSame(known: ArrangedRow, row: ArrangedRow): boolean {
  if (known.kind === "hook" || row.kind === "hook")
    return "report" in known && "report" in row && known.report === row.report;
  const parts = row.parts ?? [];
  const isKept = known.document === row.document && known.isCurrent === row.isCurrent;
  return isKept && known.parts?.length === parts.length && parts.every((part, index) => part === known.parts?.[index]);
}

/** Returns the id of the document whose row contains this document. */
export function findShownId(documents: readonly Document[], documentId: string): string {
  const shown = documents as unknown as readonly ShownDocument[];
  const document = shown.find(({ id }) => id === documentId);
  const agentId = document === undefined ? "" : toAgentId(document);
  const agent = agentId === "" ? undefined : shown.find(({ metadata }) => readText(metadata, "toolCallId") === agentId);
  return agent?.id ?? documentId;
}
