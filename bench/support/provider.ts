/** A model provider on 127.0.0.1: frames with all the fields that OpenAI and Anthropic send, as fast as they go or paced. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** One answer of the model: some text, then at most one tool call. */
export interface Answer {
  /** One frame each. A function is called when its frame is sent, so the text may contain the time. */
  readonly text: readonly (string | (() => string))[];
  readonly call?: { readonly name: string; readonly args: object };
  /** Milliseconds between two frames, on average; without it, frames are sent as fast as they are read. */
  readonly paceMs?: number;
  /** Nothing is sent before. */
  readonly startsAfter?: Promise<unknown>;
}

/** What the model answers; `turn` counts the tool results that the request contains. */
export type Script = (turn: number) => Answer;

export interface Provider {
  /** Base URL for `openai-compatible/…` and `anthropic/…`. */
  readonly url: string;
  /** When each request arrived and when its answer ended, since `play`. Milliseconds of `performance.now()`. */
  readonly requestedAt: readonly number[];
  readonly answeredAt: readonly number[];
  /** Sets what is answered from now on. */
  play(script: Script): void;
  close(): void;
}

/** Frames in one write when nothing paces them: about what a read of a socket brings. */
const framesPerWrite = 16;
/** Characters of a call's arguments in one frame. */
const argumentsLength = 8;

export async function startProvider(): Promise<Provider> {
  let script: Script = () => ({ text: ["Done."] });
  const requestedAt: number[] = [];
  const answeredAt: number[] = [];
  /** Encoded answers: the provider shares the machine with what is measured. */
  const encoded = new Map<string, readonly string[]>();

  const answer = async (path: string, body: string, response: ServerResponse): Promise<void> => {
    const encode = path.endsWith("/messages") ? encodeAnthropic : encodeOpenAi;
    const turn = body.match(/"role":"tool"|"type":"tool_result"/g)?.length ?? 0;
    const planned = script(turn);
    const { paceMs } = planned;
    await planned.startsAfter;
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "access-control-allow-origin": "*" });
    if (paceMs === undefined) {
      const key = `${path} ${turn}`;
      const writes = encoded.get(key) ?? joinFrames([...encode(planned, turn)]);
      encoded.set(key, writes);
      for (const write of writes) await writeAll(response, write);
    } else {
      let dueAt = performance.now();
      for (const frame of encode(planned, turn)) {
        await writeAll(response, frame);
        dueAt += paceMs;
        const wait = dueAt - performance.now();
        // Timers count whole milliseconds: frames that are closer together are sent in groups.
        if (wait >= 1) await sleep(wait);
      }
    }
    response.end();
    answeredAt.push(performance.now());
  };

  const server = createServer((request, response) => {
    requestedAt.push(performance.now());
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
    request.on("end", () => void answer(request.url ?? "", body, response));
  });
  // A tool may take longer than Node keeps an idle connection open.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requestedAt,
    answeredAt,
    play(next) {
      if (next !== script) encoded.clear();
      script = next;
      requestedAt.length = 0;
      answeredAt.length = 0;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function joinFrames(frames: readonly string[]): string[] {
  const writes: string[] = [];
  for (let at = 0; at < frames.length; at += framesPerWrite) {
    writes.push(frames.slice(at, at + framesPerWrite).join(""));
  }
  return writes;
}

async function writeAll(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.destroyed) return;
  await once(response, "drain");
}

const toText = (text: string | (() => string)): string => (typeof text === "string" ? text : text());

function cutArguments(args: object): string[] {
  return JSON.stringify(args).match(new RegExp(`.{1,${argumentsLength}}`, "gs")) ?? [];
}

/** Grows as the conversation does: Sheaf would take a constant number for a server that cuts what it reads. */
const toPromptTokens = (turn: number): number => 4096 + 128 * turn;

/** The stream of `POST /chat/completions`. */
export function* encodeOpenAi({ text, call }: Answer, turn: number): Generator<string, void, undefined> {
  const head = {
    id: `chatcmpl-D3qY7cN0yqk1R0vW5bq4xZ2m8u${turn}`,
    object: "chat.completion.chunk",
    created: 1_763_800_000,
    model: "gpt-4.1-2025-04-14",
    service_tier: "default",
    system_fingerprint: "fp_560af6e559",
  };
  const toFrame = (delta: object, finishReason: string | null = null): string => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    return `data: ${JSON.stringify({ ...head, choices, usage: null, obfuscation: "Xg7RzQ2pLw" })}\n\n`;
  };
  const toCallFrame = (toolCall: object): string => toFrame({ tool_calls: [{ index: 0, ...toolCall }] });
  yield toFrame({ role: "assistant", content: "", refusal: null });
  for (const content of text) yield toFrame({ content: toText(content) });
  if (call) {
    const id = `call_7hJq2LmXv9TzRkW4bN${turn}`;
    yield toCallFrame({ id, type: "function", function: { name: call.name, arguments: "" } });
    for (const piece of cutArguments(call.args)) yield toCallFrame({ function: { arguments: piece } });
  }
  yield toFrame({}, call ? "tool_calls" : "stop");
  const usage = {
    prompt_tokens: toPromptTokens(turn),
    completion_tokens: 128,
    total_tokens: toPromptTokens(turn) + 128,
    prompt_tokens_details: { cached_tokens: 3840, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
  yield `data: ${JSON.stringify({ ...head, choices: [], usage, obfuscation: "" })}\n\ndata: [DONE]\n\n`;
}

/** The stream of `POST /messages`. */
function* encodeAnthropic({ text, call }: Answer, turn: number): Generator<string, void, undefined> {
  const toFrame = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const usage = {
    input_tokens: toPromptTokens(turn) - 3840,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 3840,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    service_tier: "standard",
  };
  const message = {
    id: `msg_01Lc3EncTtD79dxfjPVCHda${turn}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  yield toFrame("message_start", { message });
  yield toFrame("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  yield toFrame("ping", {});
  for (const part of text) {
    yield toFrame("content_block_delta", { index: 0, delta: { type: "text_delta", text: toText(part) } });
  }
  yield toFrame("content_block_stop", { index: 0 });
  if (call) {
    const block = { type: "tool_use", id: `toolu_01PzR7qX4mVt9KcW2nB${turn}`, name: call.name, input: {} };
    yield toFrame("content_block_start", { index: 1, content_block: block });
    for (const piece of cutArguments(call.args)) {
      yield toFrame("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json: piece } });
    }
    yield toFrame("content_block_stop", { index: 1 });
  }
  const delta = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null };
  yield toFrame("message_delta", { delta, usage: { ...usage, output_tokens: 128 } });
  yield toFrame("message_stop", {});
}
