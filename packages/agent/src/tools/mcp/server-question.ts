/** Reads the question of a tool server from the approval that it became (X59). */
import type { ApprovalRequest, ServerQuestion } from "@sheaf/protocol";

/** Returns the question; undefined if the approval is about a call. Sheaf made it, so its fields have their types. */
export function readServerQuestion(subject: ApprovalRequest["subject"]): ServerQuestion | undefined {
  if (subject.type !== "server_question") return undefined;
  const { server, fields, arguments: values, url, host } = subject;
  return { server, fields, arguments: values, url, host } as ServerQuestion;
}
