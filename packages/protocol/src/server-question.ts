/** A question of a tool server to a person during a call: the subject of an approval (X59). */

/** Ext: one field of the form. */
export interface QuestionField {
  /** Name of the field's value. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  /** Type of the value. A `choice` is one of the options, `choices` are any number of them. */
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly required: boolean;
  /** Format of a `string`. */
  readonly format?: "email" | "uri" | "date" | "date-time";
  /** Length of a string (characters), value of a number, or number of choices. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** Ext: fields of a `subject` whose type is `server_question`. */
export interface ServerQuestion {
  /** Name of the server in the user's configuration. */
  readonly server: string;
  /** Fields of the form; empty with a `url`. */
  readonly fields: readonly QuestionField[];
  /** Values of the fields before the person changes them. An answer has the values as `editedArguments`. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A page that the server wants the person to open. Sheaf never opens it by itself. */
  readonly url?: string;
  readonly host?: string;
}
