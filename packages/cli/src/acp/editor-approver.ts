/** Asks the user of an editor whether a call may run (X8). */
import { toJsonObject } from "@sheaf/protocol/check-value";
import {
  methods,
  type RequestPermissionRequest,
  type AgentContext,
  type ClientCapabilities,
  type ElicitationPropertySchema,
  type ElicitationSchema,
  type PermissionOption,
} from "@agentclientprotocol/sdk/unstable";
import type { CliProfile } from "@sheaf/agent/output/projection";
import { SheafError } from "@sheaf/base/errors";
import type { Approver, ApprovalDecision } from "@sheaf/agent/tools/approval";
import { readServerQuestion } from "@sheaf/agent/tools/mcp/server-question";
import type { ApprovalRequest, QuestionField, ServerQuestion } from "@sheaf/protocol";

/** Milliseconds until a question expires. */
const EXPIRES_AFTER_MS = 30 * 60 * 1000;

/** Creates an approver. If the editor fails to answer, it rejects the call. */
export function createEditorApprover(session: EditorSession): Approver {
  const { client, sessionId, profile } = session;
  // Programs for cursor-agent answer with its ids, such as "allow-once", without looking for them among the options.
  const toOfferedId = (id: string) => (profile === "cursor-2026" ? id.replaceAll("_", "-") : id);
  return {
    expiresAfterMs: EXPIRES_AFTER_MS,
    answeredIn: "editor",
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
            .map(({ id, label, kind }) => ({ optionId: toOfferedId(id), name: label, kind })),
        ],
      };
      const { requestPermission } = methods.client.session;
      const { outcome } = await client.request(requestPermission, params, { cancellationSignal: signal });
      if (outcome.outcome === "selected") {
        const chosen = values.find(({ optionId }) => optionId === outcome.optionId);
        if (chosen) return { optionId: "answer", by: "editor", editedArguments: chosen.value };
        const { id = outcome.optionId } = options.find((one) => toOfferedId(one.id) === outcome.optionId) ?? {};
        return { optionId: id, by: "editor" };
      }
      throw new SheafError("CANCELLED", "the editor gave no answer", { source: "user" });
    },
  };
}

/** Asks in a form; undefined if the editor lacks forms, or the question lacks fields. */
async function askInForm(
  { callId, title, description }: ApprovalRequest,
  question: ServerQuestion,
  { client, sessionId, editor }: EditorSession,
  signal: AbortSignal,
): Promise<ApprovalDecision | undefined> {
  if (!editor.elicitation?.form || question.fields.length === 0) return undefined;
  const answer = await client.request(
    methods.client.elicitation.create,
    {
      mode: "form",
      sessionId,
      toolCallId: callId,
      message: `${title}\n\n${description}`,
      requestedSchema: toSchema(question),
    },
    { cancellationSignal: signal },
  );
  if (answer.action !== "accept") return { optionId: "decline", by: "editor" };
  return { optionId: "answer", by: "editor", editedArguments: toJsonObject(answer.content) };
}

export interface EditorSession {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly editor: ClientCapabilities;
  readonly profile?: CliProfile;
}

/** Returns the values of a single field with few values as options. Other forms have only accept and decline. */
function toValueOptions({
  fields,
}: ServerQuestion): readonly (PermissionOption & { readonly value: Record<string, unknown> })[] {
  const [field, ...others] = fields;
  if (!field || others.length > 0) return [];
  const known =
    field.type === "boolean"
      ? [true, false].map((value) => ({ value, label: value ? "Yes" : "No" }))
      : field.type === "choice"
        ? (field.options ?? [])
        : [];
  return known.map(({ value, label }, index) => ({
    optionId: `answer:${index}`,
    name: label,
    kind: "allow_once",
    value: { [field.name]: value },
  }));
}

function toSchema({ fields, arguments: defaults }: ServerQuestion): ElicitationSchema {
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map((field) => [
        field.name,
        toProperty(field, Object.hasOwn(defaults, field.name) ? defaults[field.name] : undefined),
      ]),
    ),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

function toProperty(field: QuestionField, given: unknown): ElicitationPropertySchema {
  const { title, description, format, minimum, maximum, options = [] } = field;
  const common = {
    title,
    ...(description !== undefined && { description }),
    ...(given !== undefined && { default: given }),
  };
  const titled = options.map(({ value, label }) => ({ const: value, title: label }));
  const toLimits = (least: string, most: string): object => ({
    ...(minimum !== undefined && { [least]: minimum }),
    ...(maximum !== undefined && { [most]: maximum }),
  });
  const property = ((): object => {
    switch (field.type) {
      case "boolean":
        return { type: "boolean", ...common };
      case "number":
      case "integer":
        return { type: field.type, ...common, ...toLimits("minimum", "maximum") };
      case "choice":
        return { type: "string", ...common, oneOf: titled };
      case "choices":
        return { type: "array", ...common, items: { anyOf: titled }, ...toLimits("minItems", "maxItems") };
      case "string":
        return { type: "string", ...common, ...(format && { format }), ...toLimits("minLength", "maxLength") };
    }
  })();
  return property as ElicitationPropertySchema;
}
