import { formatJson, isJsonObject, readObject, readObjects, readString, type JsonObject } from "./read-json.ts";
import { imageName, searchName, type ServerCall } from "./server-call.ts";
import type { ToolCallWriter } from "./tool-call-writer.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** One entry of `steps`, as far as it has arrived. */
interface Step {
  readonly toolCall?: ToolCallWriter;
  /** Fields of the step; its deltas replace them. */
  readonly fields: JsonObject;
}

/** True for an event of Google's Interactions API, or for its whole answer. */
export function isInteraction({ event_type: type, object, steps }: JsonObject): boolean {
  return typeof type === "string" || object === "interaction" || Array.isArray(steps);
}

/** Reads Google's Interactions API, streamed or whole: events `step` (2026-05) and, earlier, `content`. */
export function createInteractionReader(turn: TurnWriter): { read(payload: JsonObject): void; end(): void } {
  const steps = new Map<unknown, Step>();
  const parts = createServerParts(turn);

  function start(index: unknown, fields: JsonObject): void {
    const toolCall = fields.type === "function_call" ? turn.createToolCall("json") : undefined;
    toolCall?.describe(fields.id, fields.name);
    steps.set(index, { ...(toolCall && { toolCall }), fields: { ...fields } });
  }

  function readDelta({ fields, toolCall }: Step, { type, ...delta }: JsonObject): void {
    if (type === "arguments_delta") toolCall?.append(readString(delta.arguments));
    else if (type === "thought_summary") turn.append("reasoning", readString(readObject(delta.content).text));
    else if (!parts.readContent({ type, ...delta })) Object.assign(fields, delta);
  }

  function end(index: unknown): void {
    const { fields, toolCall } = steps.get(index) ?? { fields: {} };
    steps.delete(index);
    toolCall?.end(toolCall.hasInput ? undefined : formatJson(fields.arguments));
    turn.addSignature(fields.signature, toolCall?.callId);
    if (!toolCall) parts.readStep(fields);
  }

  function readWhole({ id, model, status, usage, steps: whole }: JsonObject, isLast: boolean): void {
    turn.identify(id, model);
    for (const [index, step] of readObjects(whole).entries()) {
      // Earlier turns of the user, and results of their tools, aren't part of the answer.
      if (step.type === "user_input" || step.type === "function_result") continue;
      start(index, step);
      for (const part of readObjects(step.content)) parts.readContent(part);
      for (const part of readObjects(step.summary)) turn.append("reasoning", readString(part.text));
      end(index);
    }
    if (!isLast) return;
    turn.setUsage(usage);
    turn.setFinish(status, status === "incomplete" ? "max_tokens" : undefined);
    turn.addEnd("interaction.completed");
  }

  return {
    read(payload) {
      const { event_type: type, index, delta } = payload;
      if (typeof type !== "string") return readWhole(payload, true);
      const step = /^(?:step|content)\.(\w+)$/.exec(type)?.[1];
      if (step === "start") start(index, readObject(payload.step ?? payload.content));
      else if (step === "stop") end(index);
      else if (step === "delta") {
        if (!steps.has(index)) start(index, readObject(delta));
        readDelta(steps.get(index)!, readObject(delta));
      } else if (isJsonObject(payload.interaction)) readWhole(payload.interaction, type.startsWith("interaction.comp"));
      else if (type !== "interaction.status_update" && type !== "error") turn.addOther(payload);
    },
    end: () => parts.end(),
  };
}

interface ServerParts {
  /** Takes a text or an image, with the pages that it cites. Returns false for other parts. */
  readContent(part: JsonObject): boolean;
  /** Takes a call that Google runs, or its result: steps `NAME_call` and `NAME_result`. */
  readStep(step: JsonObject): void;
  end(): void;
}

/** Creates the reader. The texts cite the pages of a search, so the search's sources are known at the end. */
function createServerParts(turn: TurnWriter): ServerParts {
  const open = new Map<string, ServerCall>();
  const sources: JsonObject[] = [];
  let search: ServerCall | undefined;

  function startCall(name: string, { id, arguments: asked }: JsonObject): void {
    const isSearch = name === "google_search";
    const call = turn.createServerCall(isSearch ? searchName : name, id);
    call.endArguments(formatJson(asked));
    if (isSearch) search?.end([]);
    if (isSearch) search = call;
    else open.set(readString(id), call);
  }

  return {
    readContent({ type, text, annotations, mime_type: mimeType, data }) {
      sources.push(...readObjects(annotations));
      if (type === "text") turn.append("text", readString(text));
      else if (type === "image") turn.createServerCall(imageName, "").end({ mimeType: readString(mimeType), data });
      return type === "text" || type === "image";
    },
    readStep(step) {
      const { type, call_id: callId, result, is_error: isError } = step;
      const [, name = "", kind] = /^(\w+)_(call|result)$/.exec(readString(type)) ?? [];
      if (kind === undefined) return;
      turn.addServerItem({ type: readString(type) });
      if (kind === "call") startCall(name, step);
      else open.get(readString(callId))?.end(isError === true ? { error: "failed" } : result);
    },
    end() {
      if (search) search.end(sources);
      else turn.addSources(sources);
    },
  };
}
