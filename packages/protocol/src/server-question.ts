/** What a tool server asks a person during a call: the subject of an approval (X59). */

/** Ext: one field of the form. */
export interface QuestionField {
  /** Name of its value. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  /** `choice`: one of the options; `choices`: any number of them. */
  readonly type: "string" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly required: boolean;
  /** Of a `string`. */
  readonly format?: "email" | "uri" | "date" | "date-time";
  /** Length of a string (characters), value of a number, or number of choices. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

/** Ext: the fields of `subject` besides its type, `server_question`. */
export interface ServerQuestion {
  /** As the user named it. */
  readonly server: string;
  /** Empty with a `url`. */
  readonly fields: readonly QuestionField[];
  /** What the fields hold before the person changes it. An answer has the values as `editedArguments`. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A page that the server wants to have opened. Nothing opens it by itself. */
  readonly url?: string;
  readonly host?: string;
}
