/** What one reader sees of a log, as frames of its event stream: the documents, or another wire form of the same log. */
import type { RunEvent } from "@sheaf/protocol";
import { encodeSse, toJsonLine } from "@sheaf/protocol/encode";
import { aiSdkUiHeaders, createAiSdkUiProjection, type UiQuestions } from "@sheaf/agent/output/ai-sdk-ui";
import { createEventMask, type EventMask } from "@sheaf/agent/output/event-mask";
import { createOpenAiChatProjection } from "@sheaf/agent/output/openai-chat";
import { createOpenAiResponseProjection } from "@sheaf/agent/output/openai-responses";
import type { Projection } from "@sheaf/agent/output/projection";
import { createStreamJsonProjection } from "@sheaf/agent/output/stream-json";
import { createWireAssembler, type WireOptions } from "./response-channel.ts";

/** Values of `?format=` (X17). */
export const wireForms = ["documents", "stream-json", "ai-sdk-ui", "openai-chat", "openai-responses"] as const;

export type WireForm = (typeof wireForms)[number];

export interface ReaderView {
  /** Frames of the next event of the log; "" for what the reader has, or does not want. */
  push(event: RunEvent): string;
  /** True if the frames that are made once for all readers are those of this one; from then on it stays so. */
  readonly isShared: boolean;
  /** Id of the last event that the reader has: frames up to it are left out. It grows with each frame. */
  after: number;
  /** Nothing more comes, although the response goes on. */
  readonly isOver?: boolean;
}

export interface ViewOptions {
  readonly form: WireForm;
  /** Id of the last event that the reader has; 0: none. */
  readonly after: number;
  readonly includesReasoning: boolean;
  /** Of `openai-chat`: a chunk with the usage. */
  readonly includesUsage?: boolean | undefined;
  /** Of `ai-sdk-ui`: the stream ends at a question. */
  readonly questions?: UiQuestions | undefined;
}

/** Headers of a stream besides those of every stream. */
export function toFormHeaders(form: WireForm): Readonly<Record<string, string>> {
  return form === "ai-sdk-ui" ? aiSdkUiHeaders : {};
}

/** Sees the log from its first event on, and gives frames from `after` on. */
export function createReaderView(asked: ViewOptions, wire: WireOptions): ReaderView {
  const { form, after, includesReasoning, includesUsage = false, questions } = asked;
  if (form === "documents") return createDocumentsView(after, includesReasoning, wire);
  const options = { includeThinking: includesReasoning, includeUsage: includesUsage, questions };
  const view = { mask: createEventMask({ mask: wire.mask }), after };
  if (form === "stream-json") return createLineView(createStreamJsonProjection(options), view, "");
  if (form === "openai-responses") return createLineView(createOpenAiResponseProjection(), view, "");
  const create = form === "ai-sdk-ui" ? createAiSdkUiProjection : createOpenAiChatProjection;
  // Their clients wait for this word.
  return createLineView(create(options), view, "data: [DONE]\n\n");
}

function createDocumentsView(after: number, includesReasoning: boolean, wire: WireOptions): ReaderView {
  const assembler = createWireAssembler(wire);
  let lastId = 0;
  return {
    after,
    // What a reader says that it has may not be there yet; the frames for all would bring it once more (X1).
    get isShared() {
      return lastId >= this.after;
    },
    push(event) {
      let frames = "";
      for (const streamEvent of assembler.push(event)) {
        lastId = streamEvent.id;
        if (streamEvent.id <= this.after || (streamEvent.event === "reasoning_delta" && !includesReasoning)) continue;
        frames += encodeSse(streamEvent);
      }
      this.after = Math.max(this.after, lastId);
      return frames;
    },
  };
}

/** Each line is one message without a name; its id is the number of the event in the log. */
function createLineView(
  projection: Projection & { readonly isPaused?: boolean },
  { mask, after }: { readonly mask: EventMask; readonly after: number },
  last: string,
): ReaderView {
  return {
    after,
    isShared: false,
    get isOver() {
      return projection.isPaused ?? false;
    },
    push(event) {
      if (projection.isPaused) return "";
      let frames = "";
      for (const line of mask(event).flatMap((shown) => projection.push(shown))) {
        if (event.seq > after) frames += `id: ${event.seq}\ndata: ${toJsonLine(JSON.parse(line))}\n\n`;
      }
      this.after = Math.max(this.after, event.seq);
      const isLast = event.type === "run_end" || projection.isPaused;
      return isLast && event.seq > after ? frames + last : frames;
    },
  };
}
