import { expect } from "vitest";
import type { ModelStreamFormat } from "../../src/model-streams/model-stream-decoder.ts";
import { cutAt, cutEverywhere } from "./cut-body.ts";
import { formatTurn, readChunks, type ReadTurn } from "./read-turn.ts";

/** Long bodies are cut in two at fewer places than they have, so that the time stays bearable. */
const maximumCuts = 1500;

/** Reads a body whole, one byte at a time, and cut in two at every byte, and expects the same from all (N25). */
export function readEveryCut(format: ModelStreamFormat, body: string | Uint8Array): ReadTurn {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const whole = readChunks(format, [bytes]);
  const expected = formatTurn(whole);
  expect(formatTurn(readChunks(format, cutEverywhere(bytes)))).toBe(expected);
  const step = Math.ceil(bytes.length / maximumCuts);
  for (let offset = 0; offset <= bytes.length; offset += step) {
    const cut = formatTurn(readChunks(format, cutAt(bytes, [offset])));
    if (cut !== expected) expect(cut, `cut at byte ${offset}`).toBe(expected);
  }
  return whole;
}

/** The same for a body of these payloads as an event stream. */
export function readPayloads(format: ModelStreamFormat, payloads: readonly unknown[]): ReadTurn {
  return readEveryCut(format, formatEventStream(payloads));
}

/** Objects become JSON, strings stay as they are. */
export function formatEventStream(payloads: readonly unknown[]): string {
  return payloads
    .map((payload) => `data: ${typeof payload === "string" ? payload : JSON.stringify(payload)}\n\n`)
    .join("");
}
