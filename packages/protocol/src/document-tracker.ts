/** Tracks the phase of each document in a stream, and checks which event may follow (N44 to N48). */
import type { Document } from "./documents.ts";
import { isJsonObject } from "./json-object.ts";
import { createSha256 } from "./sha256.ts";
import type { StreamEvent, StreamEventName, StreamEventPayloads } from "./stream-events.ts";

export interface GrammarProblem {
  readonly clause: string;
  readonly message: string;
}

export interface DocumentTracker {
  push(event: StreamEvent): GrammarProblem | undefined;
  /** Id of an open document, if any. */
  open(): string | undefined;
  lastType(): string | undefined;
}

export function createDocumentTracker(requireExtensions: boolean): DocumentTracker {
  return new Tracker(requireExtensions);
}

/**
 * Phase of a document; only tool calls go through the middle phases.
 * After a snapshot, which doesn't show tool_call_start, the phase is `restored`.
 */
type Phase = "start" | "restored" | "tool_call_start" | "tool_call_arguments" | "tool_result" | "end";

interface Track {
  readonly id: string;
  readonly type: string;
  phase: Phase;
  /** Joined deltas; undefined before the first delta. */
  joined: string | undefined;
}

type Step = Readonly<Partial<Record<StreamEventName, { readonly from: readonly Phase[]; readonly to: Phase }>>>;

const textSteps: Step = {
  content_delta: { from: ["start"], to: "start" },
  document_end: { from: ["start"], to: "end" },
};

const toolSteps: Step = {
  tool_call_start: { from: ["start", "restored"], to: "tool_call_start" },
  arguments_delta: { from: ["tool_call_start", "restored"], to: "tool_call_start" },
  tool_call_arguments: { from: ["tool_call_start", "restored"], to: "tool_call_arguments" },
  output_delta: { from: ["tool_call_arguments"], to: "tool_call_arguments" },
  tool_result: { from: ["tool_call_arguments"], to: "tool_result" },
  document_end: { from: ["tool_result"], to: "end" },
};

/** The productions of N44 by document type. */
const grammar: ReadonlyMap<string, Step> = new Map<string, Step>([
  ["text", textSteps],
  ["code_block", textSteps],
  ["code_reference", textSteps],
  ["plan", textSteps],
  ["clarification", textSteps],
  ["error", textSteps],
  ["file_edit", textSteps],
  ["tool_call", toolSteps],
  [
    "terminal_command",
    { output_delta: { from: ["start"], to: "start" }, document_end: { from: ["start"], to: "end" } },
  ],
  ["todo_update", { document_end: { from: ["start"], to: "end" } }],
]);

/** Events of tool_call documents only (N45). */
const toolEvents: ReadonlySet<string> = new Set([
  "tool_call_start",
  "arguments_delta",
  "tool_call_arguments",
  "tool_result",
]);

/** Documents made from model text (N48); their deltas are their content (N47). */
const modelText: ReadonlySet<string> = new Set(["text", "code_block", "code_reference"]);
const contentless: ReadonlySet<string> = new Set(["tool_call", "terminal_command", "todo_update"]);

class Tracker implements DocumentTracker {
  readonly #requireExtensions: boolean;
  #tracks = new Map<unknown, Track>();
  #lastType: string | undefined;

  constructor(requireExtensions: boolean) {
    this.#requireExtensions = requireExtensions;
  }

  open(): string | undefined {
    return this.#openTracks()[0]?.id;
  }

  lastType(): string | undefined {
    return this.#lastType;
  }

  push(event: StreamEvent): GrammarProblem | undefined {
    if (event.event === "document_start") return this.#start(event.data);
    if (event.event === "snapshot") return this.#restore(event.data.response.documents);
    const documentId = "documentId" in event.data ? event.data.documentId : undefined;
    if (documentId === undefined) return undefined;
    const track = this.#tracks.get(documentId);
    if (track === undefined) return { clause: "N48", message: `${event.event} for ${documentId}, which never started` };
    if (track.phase === "end") return { clause: "N48", message: `${event.event} for ${documentId} after its end` };
    if (event.event === "approval_request" || event.event === "hook_result") return undefined;
    return this.#advance(track, event);
  }

  #openTracks(): Track[] {
    return [...this.#tracks.values()].filter(({ phase }) => phase !== "end");
  }

  #start({ id, type, sequence }: StreamEventPayloads["document_start"]): GrammarProblem | undefined {
    const expected = this.#tracks.size + 1;
    const problem = this.#checkStart(id, type, sequence, expected);
    this.#tracks.set(id, { id, type, phase: "start", joined: undefined });
    this.#lastType = type;
    return problem;
  }

  #checkStart(id: string, type: string, sequence: number, expected: number): GrammarProblem | undefined {
    if (sequence !== expected) return { clause: "N10", message: `sequence ${sequence} where ${expected} is next` };
    const expectedId = `doc_${String(sequence).padStart(3, "0")}`;
    if (id !== expectedId) return { clause: "N9", message: `document id ${id} is not ${expectedId}` };
    if (this.#requireExtensions && !grammar.has(type) && !type.startsWith("_")) {
      return { clause: "N13", message: `unknown document type ${type}` };
    }
    const openText = modelText.has(type) ? this.#openTracks().find((track) => modelText.has(track.type)) : undefined;
    return openText && { clause: "N48", message: `${id} starts while ${openText.id} is open, both made of model text` };
  }

  #restore(documents: readonly Document[]): GrammarProblem | undefined {
    this.#tracks = new Map();
    for (const { id, type, content, status, metadata } of documents) {
      const phase = status === "in_progress" ? phaseOf(type, metadata) : "end";
      this.#tracks.set(id, { id, type, phase, joined: content ?? undefined });
      this.#lastType = type;
    }
    return undefined;
  }

  #advance(track: Track, { event, data }: StreamEvent): GrammarProblem | undefined {
    const steps = grammar.get(track.type);
    const step = steps?.[event];
    if (steps !== undefined && step === undefined) {
      const clause = toolEvents.has(event) ? "N45" : "N44";
      return { clause, message: `${event} for ${track.id}, which is a ${track.type}` };
    }
    const { phase } = track;
    if (step !== undefined) track.phase = step.to;
    else if (event === "document_end") track.phase = "end";
    if (step !== undefined && !step.from.includes(phase)) {
      return { clause: "N44", message: `${event} for ${track.id} directly after ${phase}` };
    }
    if (event === "content_delta") track.joined = (track.joined ?? "") + data.delta;
    return event === "document_end" ? this.#checkEnd(track, data) : undefined;
  }

  #checkEnd(track: Track, data: StreamEventPayloads["document_end"]): GrammarProblem | undefined {
    const problem = checkFinalContent(track, data);
    track.joined = undefined;
    if (problem !== undefined) return { clause: "N47", message: `${track.id}: ${problem}` };
    if (!this.#requireExtensions || isJsonObject(data.metadata)) return undefined;
    return { clause: "N46", message: `${track.id} ends without metadata` };
  }
}

function phaseOf(type: string, metadata: Document["metadata"]): Phase {
  if (type !== "tool_call") return "start";
  if ("result" in metadata) return "tool_result";
  return "arguments" in metadata ? "tool_call_arguments" : "restored";
}

/** Checks the content at the end of a document (N47, N55). */
function checkFinalContent(track: Track, data: StreamEventPayloads["document_end"]): string | undefined {
  const { finalContent, finalContentSha256, finalContentLength } = data;
  const joined = track.joined ?? "";
  if (contentless.has(track.type)) {
    return finalContent === undefined ? undefined : "finalContent, but its content is null";
  }
  if (typeof finalContentSha256 === "string" && finalContent === undefined) {
    if (finalContentLength !== joined.length) return "finalContentLength differs from the joined deltas";
    const hash = createSha256();
    hash.update(joined);
    return hash.digest() === finalContentSha256 ? undefined : "finalContentSha256 differs from the joined deltas";
  }
  if (typeof finalContent !== "string") {
    const isNull = track.type === "file_edit" && track.joined === undefined;
    return isNull || !grammar.has(track.type) ? undefined : "no finalContent, but its content is a string";
  }
  if (!modelText.has(track.type) || finalContent === joined) return undefined;
  return "finalContent differs from the joined deltas";
}
