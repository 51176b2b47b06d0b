/** The person in front of an editor, who may let a call run (X8). */
import { methods, type RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { SheafError } from "@sheaf/base/errors";
import type { Approver } from "@sheaf/agent/tools/approval";
import { readServerQuestion } from "@sheaf/agent/tools/mcp/server-question";
import { askInForm, toValueOptions, type EditorSession } from "./editor-question.ts";

/** How long a question stays open. Milliseconds. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

/** An editor that does not answer rejects the call. */
export function createEditorApprover(session: EditorSession): Approver {
  const { client, sessionId } = session;
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    async ask(request, signal) {
      const { callId, title, description, subject, options } = request;
      const question = readServerQuestion(subject);
      const answer = question && (await askInForm(request, question, session, signal));
      if (answer) return answer;
      const values = question ? toValueOptions(question) : [];
      const { type: _, ...rawInput } = subject;
      const shown = typeof subject.command === "string" ? subject.command : JSON.stringify(rawInput, undefined, 2);
      const text = `${title}\n\n${shown}\n\n${description}`;
      const params: RequestPermissionRequest = {
        sessionId,
        toolCall: { toolCallId: callId, rawInput, content: [{ type: "content", content: { type: "text", text } }] },
        options: [
          ...values.map(({ value: _value, ...option }) => option),
          ...options
            .filter(({ id }) => values.length === 0 || id !== "answer")
            .map(({ id, label, kind }) => ({ optionId: id, name: label, kind })),
        ],
      };
      const { requestPermission } = methods.client.session;
      const { outcome } = await client.request(requestPermission, params, { cancellationSignal: signal });
      if (outcome.outcome === "selected") {
        const chosen = values.find(({ optionId }) => optionId === outcome.optionId);
        if (chosen) return { optionId: "answer", by: "editor", editedArguments: chosen.value };
        return { optionId: outcome.optionId, by: "editor" };
      }
      throw new SheafError("CANCELLED", "the editor gave no answer", { source: "user" });
    },
  };
}
