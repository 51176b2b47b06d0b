/** The event stream that one reader gets: frames of documents, or another wire form of the same log. */
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
  /** Returns the frames of the next event of the log, or "" if the reader has them or doesn't want them. */
  push(event: RunEvent): string;
  /** True if the frames made once for all readers suit this reader. Once true, it stays true. */
  readonly isShared: boolean;
  /** Id of the last event that the reader has, which grows with each frame. The view skips frames up to it. */
  after: number;
  /** True if the stream ends here, although the response continues. */
  readonly isOver?: boolean;
}

export interface ViewOptions {
  readonly form: WireForm;
  /** Id of the last event that the reader has; 0: none. */
  readonly after: number;
  readonly includesReasoning: boolean;
  /** True to add a chunk with the usage to `openai-chat`. */
  readonly includesUsage?: boolean | undefined;
  /** The way that `ai-sdk-ui` ends its stream at a question. */
  readonly questions?: UiQuestions | undefined;
}

/** Headers that one wire form adds to those of every stream. */
export function toFormHeaders(form: WireForm): Readonly<Record<string, string>> {
  return form === "ai-sdk-ui" ? aiSdkUiHeaders : {};
}

/** Makes a view that takes the log from its first event, and returns frames from `after` on. */
export function createReaderView(asked: ViewOptions, wire: WireOptions): ReaderView {
  const { form, after, includesReasoning, includesUsage = false, questions } = asked;
  if (form === "documents") return createDocumentsView(after, includesReasoning, wire);
  const options = { includeThinking: includesReasoning, includeUsage: includesUsage, questions };
  const view = { mask: createEventMask({ mask: wire.mask }), after };
  if (form === "stream-json") return createLineView(createStreamJsonProjection(options), view, "");
  if (form === "openai-responses") return createLineView(createOpenAiResponseProjection(), view, "");
  const create = form === "ai-sdk-ui" ? createAiSdkUiProjection : createOpenAiChatProjection;
  // The end marker that clients of these forms wait for.
  return createLineView(create(options), view, "data: [DONE]\n\n");
}

function createDocumentsView(after: number, includesReasoning: boolean, wire: WireOptions): ReaderView {
  const assembler = createWireAssembler(wire);
  let lastId = 0;
  return {
    after,
    // A reader may claim events that don't exist yet; the shared frames would repeat these events (X1).
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
