/** Streams that break the contract. */
import { changeEvents, drop, setData, setHeader, without, write, type BreakageCase, type Json } from "../breakage.ts";

export const streamBreakages: readonly BreakageCase[] = [
  [
    "an event without its name",
    ["stream-wire-form", "stream-grammar"],
    write("content_delta", ({ id, data }) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`),
  ],
  [
    "a payload of two lines",
    ["stream-wire-form"],
    write(
      "content_delta",
      ({ id, event, data }) =>
        `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data).replace(",", ",\ndata: ")}\n\n`,
    ),
  ],
  [
    "a payload that is not JSON",
    ["stream-wire-form"],
    write("content_delta", ({ id, event }) => `id: ${id}\nevent: ${event}\ndata: {'a':1}\n\n`),
  ],
  ["a type in every payload", ["stream-wire-form"], setData("content_delta", () => ({ type: "content_delta" }))],
  ["a stream that is called text", ["stream-wire-form"], setHeader("content-type", "text/plain")],
  ["a lost delta", ["stream-grammar"], drop("content_delta")],
  [
    "an empty finalContent",
    ["stream-grammar"],
    setData("document_end", ({ finalContent }) => (finalContent === undefined ? {} : { finalContent: "" })),
  ],
  ["no finalContent", ["stream-grammar"], changeEvents("document_end", without("finalContent"))],
  ["a document without its end", ["stream-grammar"], drop("document_end")],
  ["a call without its result", ["stream-grammar"], drop("tool_result")],
  ["a call without its arguments", ["stream-grammar"], drop("tool_call_arguments")],
  [
    "sequences from 0",
    ["stream-grammar"],
    setData("document_start", ({ sequence }) => ({ sequence: Number(sequence) - 1 })),
  ],
  [
    "document ids of another form",
    ["stream-grammar"],
    setData("document_start", ({ id }) => ({ id: `${String(id)}x` })),
  ],
  [
    "usage that does not add up",
    ["stream-grammar"],
    setData("done", () => ({ usage: { promptTokens: 1, completionTokens: 1, totalTokens: 3 } })),
  ],
  ["no done", ["stream-end"], drop("done")],
  ["done twice", ["stream-end"], changeEvents("done", (event) => [event, { ...event, id: `${Number(event.id) + 1}` }])],
  [
    "an event after done",
    ["stream-end"],
    changeEvents("done", (event) => [event, { id: `${Number(event.id) + 1}`, event: "_note", data: {} }]),
  ],
  ["a stream that stays open", ["stream-end"], { staysOpen: true }],
  [
    "reasoning for everybody",
    ["stream-reasoning"],
    changeEvents("done", (event) => [
      { id: event.id, event: "reasoning_delta", data: { delta: "hm" } },
      { ...event, id: `${Number(event.id) + 1}` },
    ]),
  ],
  [
    "a document type of its own",
    ["stream-reasoning", "stream-extensions"],
    setData("document_start", ({ type }) => (type === "text" ? { type: "image" } : {})),
  ],
  ["no response_start", ["stream-extensions"], drop("response_start")],
  ["response_start without the model", ["stream-extensions"], changeEvents("response_start", without("model"))],
  ["another id in response_start", ["stream-extensions"], setData("response_start", () => ({ id: "chat_other" }))],
  ["documents that end without metadata", ["stream-extensions"], changeEvents("document_end", without("metadata"))],
  ["a done without metadata", ["stream-extensions"], changeEvents("done", without("metadata"))],
  [
    "no ids",
    ["stream-ids"],
    {
      createEvents: () => (event) => [
        { ...event, raw: `event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n` },
      ],
    },
  ],
  ["ids that are no numbers", ["stream-ids"], { createEvents: () => (event) => [{ ...event, id: `0${event.id}` }] }],
  ["a repeated id", ["stream-ids"], changeEvents("content_delta", (event) => [event, event])],
  [
    "metadata of the end that GET does not have",
    ["response-is-whole-stream"],
    setData("document_end", ({ metadata }) => ({ metadata: { ...(metadata as Json), extra: 1 } })),
  ],
];
