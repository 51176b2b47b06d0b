import type { ApprovalRequestData, QuestionField, ServerQuestion } from "@sheaf/protocol";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

export type FormValues = Readonly<Record<string, unknown>>;

/** Undefined: the approval is about a call, or its fields cannot be read. */
export function toServerQuestion({ subject }: ApprovalRequestData): ServerQuestion | undefined {
  const { type, server, fields, arguments: values } = subject;
  const isReadable = typeof server === "string" && Array.isArray(fields) && fields.every(isField);
  if (type !== "server_question" || !isReadable) return undefined;
  return { server, fields, arguments: typeof values === "object" && values !== null ? { ...values } : {} };
}

function isField(value: unknown): value is QuestionField {
  if (typeof value !== "object" || value === null) return false;
  const { name, title, type, options = [] } = value as Readonly<Record<string, unknown>>;
  return [name, title, type].every((text) => typeof text === "string") && Array.isArray(options);
}

interface ServerFormProps {
  readonly fields: readonly QuestionField[];
  readonly values: FormValues;
  readonly isDisabled: boolean;
  readonly onChange: (values: FormValues) => void;
}

/** The form of a tool server (X59). A field that is left empty has no value. */
export function ServerForm({ fields, values, isDisabled, onChange }: ServerFormProps) {
  const messages = useMessages();
  const change = (name: string, value: unknown): void => {
    const others = Object.entries(values).filter(([other]) => other !== name);
    onChange(Object.fromEntries(value === undefined ? others : [...others, [name, value]]));
  };
  return (
    <fieldset class="server-form" disabled={isDisabled}>
      {fields.map((field) => (
        <div class="server-field" key={field.name}>
          <label>
            <VisibleText as="span" text={field.required ? field.title : `${field.title} (${messages.mayBeLeftOut})`} />
            {field.type === "choices" ? undefined : (
              <FieldInput field={field} value={values[field.name]} onChange={(value) => change(field.name, value)} />
            )}
          </label>
          {field.type === "choices" ? (
            <Choices field={field} value={values[field.name]} onChange={(value) => change(field.name, value)} />
          ) : undefined}
          {field.description === undefined ? undefined : (
            <VisibleText as="p" class="approval-text" dir="auto" text={field.description} />
          )}
        </div>
      ))}
    </fieldset>
  );
}

interface FieldProps {
  readonly field: QuestionField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

const keyboards = { email: "email", uri: "url", date: "numeric", "date-time": "text" } as const;
const examples = { email: "", uri: "https://", date: "2026-12-31", "date-time": "2026-12-31T12:00:00Z" };

function FieldInput({ field: { type, format, options = [] }, value, onChange }: FieldProps) {
  const text = typeof value === "string" || typeof value === "number" ? `${value}` : "";
  switch (type) {
    case "boolean":
      return (
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
      );
    case "choice":
      return (
        <select class="text-field" value={text} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
          <option value="" />
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      );
    case "number":
    case "integer":
      return (
        <input
          class="text-field"
          type="number"
          step="any"
          value={text}
          onInput={({ currentTarget: { value: given } }) => onChange(given === "" ? undefined : Number(given))}
        />
      );
    default:
      return (
        <input
          class="text-field"
          type="text"
          inputMode={format === undefined ? "text" : keyboards[format]}
          placeholder={format === undefined ? "" : examples[format]}
          value={text}
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
  }
}

function Choices({ field: { title, options = [] }, value, onChange }: FieldProps) {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const toggle = (one: string): void => {
    const next = options.map((option) => option.value).filter((other) => chosen.includes(other) !== (other === one));
    onChange(next.length === 0 ? undefined : next);
  };
  return (
    <div role="group" aria-label={title}>
      {options.map((option) => (
        <label key={option.value} class="server-choice">
          <input type="checkbox" checked={chosen.includes(option.value)} onChange={() => toggle(option.value)} />
          <VisibleText text={option.label} />
        </label>
      ))}
    </div>
  );
}
