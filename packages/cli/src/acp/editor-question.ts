/** Puts the question of a tool server to the person in front of an editor: as a form where the editor has forms (X59). */
import {
  methods,
  type AgentContext,
  type ClientCapabilities,
  type ElicitationPropertySchema,
  type ElicitationSchema,
  type PermissionOption,
} from "@agentclientprotocol/sdk/unstable";
import type { ApprovalRequest, QuestionField, ServerQuestion } from "@sheaf/protocol";
import type { ApprovalDecision } from "@sheaf/agent/tools/approval";

/** Undefined: the editor has no forms, or the question has none. */
export async function askInForm(
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
  const { content } = answer;
  const editedArguments = typeof content === "object" && content !== null ? { ...content } : {};
  return { optionId: "answer", by: "editor", editedArguments };
}

export interface EditorSession {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly editor: ClientCapabilities;
}

/** One field with few values needs no form: each value is an option. Others can only be taken as they are, or declined. */
export function toValueOptions({
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
