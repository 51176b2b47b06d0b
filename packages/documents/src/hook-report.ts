/** Writes the work of hooks as events of the stream (N106). */
import type { HookReport, HookResult } from "@sheaf/protocol";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolDocuments } from "./tool-documents.ts";

/** Writes a hook's result, unless the hook changed nothing: reports of a formatter are noise. `tools` has its call. */
export function writeHookReport(writer: StreamWriter, result: HookResult, tools: ToolDocuments): void {
  const { event, origin, status, exitCode, decision, reason, arguments: given, context, callId } = result;
  if (status === "success" && !decision && !given && !context) return;
  const report: { -readonly [Name in keyof HookReport]: HookReport[Name] } = {
    event,
    origin,
    status,
    exitCode,
    after: 0,
  };
  if (decision) report.decision = decision;
  if (reason) report.reason = reason;
  if (given) report.arguments = given;
  if (context) report.informed = true;
  const documentId = callId === undefined ? undefined : tools.startDocument(callId);
  if (documentId !== undefined) report.documentId = documentId;
  report.after = writer.lastSequence();
  writer.write("hook_result", report);
}
