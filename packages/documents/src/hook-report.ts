/** What hooks did, as events of the stream (N106). */
import type { HookReport, HookResult } from "@sheaf/protocol";
import { cutToPayload } from "./payload-limits.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { ToolDocuments } from "./tool-documents.ts";

/** Longer arguments are left out. UTF-16 units of JSON. */
const maxArguments = 32 * 1024;

/** Nothing for a hook that changed nothing: one that formats each file would be noise. `tools` has its call. */
export function writeHookReport(writer: StreamWriter, result: HookResult, tools: ToolDocuments): void {
  const { event, origin, status, exitCode, decision, reason = "", arguments: given, context = "", callId } = result;
  if (status === "success" && decision === undefined && given === undefined && context === "") return;
  const documentId = callId === undefined ? undefined : tools.startDocument(callId);
  const isShort = given !== undefined && JSON.stringify(given).length <= maxArguments;
  writer.write("hook_result", {
    event,
    origin,
    status,
    exitCode,
    ...(decision !== undefined && { decision }),
    ...(reason !== "" && { reason: cutToPayload(reason) }),
    ...(given !== undefined && { changed: true }),
    ...(isShort && { arguments: given }),
    ...(context !== "" && { informed: true }),
    ...(documentId !== undefined && { documentId }),
    after: writer.lastSequence(),
  } satisfies HookReport);
}
