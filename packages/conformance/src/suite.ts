/** Every check, in the order of the report. */
import type { Check } from "./check.ts";
import { approvalChecks } from "./checks/approvals.ts";
import { attachmentChecks } from "./checks/attachments.ts";
import { cancelChecks } from "./checks/cancel.ts";
import { conversationStateChecks } from "./checks/conversation-state.ts";
import { conversationChecks } from "./checks/conversations.ts";
import { documentChecks } from "./checks/documents.ts";
import { endpointChecks } from "./checks/endpoints.ts";
import { errorChecks } from "./checks/errors.ts";
import { formChecks } from "./checks/forms.ts";
import { idempotencyChecks } from "./checks/idempotency.ts";
import { responseChecks } from "./checks/responses.ts";
import { resumeChecks } from "./checks/resume.ts";
import { snapshotChecks } from "./checks/snapshot.ts";
import { streamChecks } from "./checks/stream.ts";

export const suite: readonly Check[] = [
  ...endpointChecks,
  ...responseChecks,
  ...documentChecks,
  ...streamChecks,
  ...errorChecks,
  ...resumeChecks,
  ...snapshotChecks,
  ...cancelChecks,
  ...idempotencyChecks,
  ...approvalChecks,
  ...conversationChecks,
  ...attachmentChecks,
  ...conversationStateChecks,
  ...formChecks,
];
