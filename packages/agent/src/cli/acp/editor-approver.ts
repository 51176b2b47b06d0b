/** The person in front of an editor, who may let a call run (X8). */
import { methods, type AgentContext, type RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { SheafError } from "../../base/errors.ts";
import type { Approver } from "../../tools/approval.ts";

/** How long a question stays open. Milliseconds. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

/** An editor that does not answer rejects the call. */
export function createEditorApprover(client: AgentContext, sessionId: string): Approver {
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    async ask({ callId, title, description, subject, options }, signal) {
      const { type: _, ...rawInput } = subject;
      const shown = typeof subject.command === "string" ? subject.command : JSON.stringify(rawInput, undefined, 2);
      const text = `${title}\n\n${shown}\n\n${description}`;
      const params: RequestPermissionRequest = {
        sessionId,
        toolCall: { toolCallId: callId, rawInput, content: [{ type: "content", content: { type: "text", text } }] },
        options: options.map(({ id, label, kind }) => ({ optionId: id, name: label, kind })),
      };
      const { requestPermission } = methods.client.session;
      const { outcome } = await client.request(requestPermission, params, { cancellationSignal: signal });
      if (outcome.outcome === "selected") return { optionId: outcome.optionId, by: "editor" };
      throw new SheafError("CANCELLED", "the editor gave no answer", { source: "user" });
    },
  };
}
