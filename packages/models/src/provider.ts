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
  /** What the model wrote, if it is not a JSON object (N30). */
  readonly rawArguments?: string;
  /** The model wrote the call in its text (N127). */
  readonly isText?: true;
}

/** One piece of an answer, in order. */
export type AssistantPart = { readonly type: "text"; readonly text: string } | ModelToolCall | ProviderData;

/** The history that a model sees, in order; a pure function of the logs of the conversation. */
export type ModelMessage =
  /** `isNote`: Sheaf wrote it, not the user. */
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
  /** An answer begins; `format` decodes it. The answer before it is void. `origin`: of its `provider_data`. */
  begin(answer: { readonly format: ModelStreamFormat; readonly origin: string }): void;
  /** The bytes of one read of the socket. */
  push(bytes: Uint8Array): void;
}

/** One model request. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly mode: Mode;
  /** Of a subagent: its name. No provider sees it. */
  readonly agent?: string | undefined;
  /** How much the model is to think; undefined: as it does by default. A model that cannot says so in its `turn_end`. */
  readonly effort?: Effort | undefined;
  /** Ask for summaries of the thinking where the provider has them. */
  readonly includesReasoning?: boolean | undefined;
  /** The provider may search the web for the model (C48). */
  readonly webSearch?: boolean | undefined;
  /** Makes the ids of tool calls (N29). */
  readonly newCallId: () => string;
  /** Not called by models whose answers we do not decode ourselves. */
  readonly tap?: BodyTap;
}

/** A model that a run can use. */
export interface Model {
  /** Id used in the request (N7). */
  readonly id: string;
  /** Display name (C5). */
  readonly name: string;
  /** The place where the key came from; `none` if none is needed (C5). */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Attachments that it takes (N67). Default: all. */
  readonly attachmentTypes?: readonly AttachmentType[];
  /** Asks the server what fits into one request, in tokens; undefined: it does not say so. Never rejects. */
  readonly findWindow?: (signal: AbortSignal) => Promise<number | undefined>;
  /** Its provider can search the web for it (C48). Default: no. */
  readonly hasWebSearch?: boolean;
  /**
   * One request. Each array contains the events of one read of the socket; it is stored in one step, then delivered.
   * The last array ends with exactly one `turn_end`, whose `modelMs` the run replaces with its own measurement.
   * @throws SheafError of the closed table when the provider fails. After an abort the stream just ends.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
  /** The same model for one run, if it remembers something from request to request. */
  readonly forRun?: () => Model;
}
