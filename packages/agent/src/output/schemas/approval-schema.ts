/** Schema of a question to a person (X8). */
import * as z from "zod";

export const approvalRequestSchema = z.object({
  approvalId: z.string(),
  documentId: z.string().regex(/^doc_\d{3,}$/),
  title: z.string(),
  description: z.string(),
  subject: z.looseObject({ type: z.enum(["command", "file_edit", "tool_call"]) }),
  options: z.array(
    z.object({
      id: z.string(),
      label: z.string(),
      kind: z.enum(["allow_once", "allow_always", "reject_once", "reject_always"]),
    }),
  ),
  expiresAt: z.iso.datetime(),
});
