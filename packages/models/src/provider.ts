/** The port between a run and a model. Every model, real or not, is one `Model`. */
import type { ModelStreamFormat } from "@sheaf/documents/model-streams";
import type { Attachment, AttachmentType, Effort, Mode, ModelEvent, ProviderData } from "@sheaf/protocol";

/** The description of a tool for a model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** One tool call as the model wrote it. */
export interface ModelToolCall {
  readonly type: "tool_call";
  readonly callId: string;
  readonly providerCallId?: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The arguments as the model wrote them, if they are not a JSON object (N30). */
  readonly rawArguments?: string;
  /** True if the model wrote the call in its text (N127). */
  readonly isText?: true;
}

/** One piece of an answer, in order. */
export type AssistantPart = { readonly type: "text"; readonly text: string } | ModelToolCall | ProviderData;

/** A message of the history that a model sees, in order. The history is a pure function of the conversation's logs. */
export type ModelMessage =
  /** A message of the user. `isNote`: Sheaf wrote it. */
  | {
      readonly role: "user";
      readonly text: string;
      readonly attachments?: readonly Attachment[];
      readonly isNote?: true;
    }
  | {
      readonly role: "assistant";
      readonly content: readonly AssistantPart[];
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly toolName: string;
      readonly output: string;
      readonly isError: boolean;
      readonly attachments?: readonly Attachment[];
    };

/** Receives the bodies of a provider's answers as they arrive, with secrets hidden: for recordings. */
export interface BodyTap {
  /** Starts an answer and drops the previous one. `format` decodes it. `origin` is in its `provider_data`. */
  begin(answer: { readonly format: ModelStreamFormat; readonly origin: string }): void;
  /** Takes the bytes of one read of the socket. */
  push(bytes: Uint8Array): void;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly mode: Mode;
  /** Name of the subagent that sends it. No provider sees it. */
  readonly agent?: string | undefined;
  /** Amount of thinking. Default: the model's own. The `turn_end` reports a model that cannot obey. */
  readonly effort?: Effort | undefined;
  /** True to request summaries of the thinking, if the provider has them. */
  readonly includesReasoning?: boolean | undefined;
  /** True if the provider may search the web for the model (C48). */
  readonly webSearch?: boolean | undefined;
  /** Makes the ids of tool calls (N29). */
  readonly newCallId: () => string;
  /** Tap for the answer. Models with another decoder do not call it. */
  readonly tap?: BodyTap;
}

/** A model that a run can use. */
export interface Model {
  /** Id used in the request (N7). */
  readonly id: string;
  /** Display name (C5). */
  readonly name: string;
  /** The place of the key; `none` if the model needs no key (C5). */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Attachments that the model takes (N67). Default: all. */
  readonly attachmentTypes?: readonly AttachmentType[];
  /** Asks the server for the most tokens of one request; undefined if it does not report them. Never rejects. */
  readonly findWindow?: (signal: AbortSignal) => Promise<number | undefined>;
  /** True if the model's provider can search the web for it (C48). Default: no. */
  readonly hasWebSearch?: boolean;
  /**
   * Sends one request. Each array contains the events of one read of the socket. The run stores it in one step, then
   * delivers it. The last array ends with exactly one `turn_end`, whose `modelMs` the run replaces with its own
   * measurement.
   * @throws SheafError of the closed table when the provider fails. After an abort the stream just ends.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
  /** Returns the model for one run, if it remembers something from request to request. */
  readonly forRun?: () => Model;
}
