/** The checker of histories finds what must not happen. */
import { assemble } from "@sheaf/documents";
import { reduce, type RunEvent, type RunEventBody, type RunStart } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { checkHistory, type ClusterHistory } from "../support/check-history.ts";
import { verifies } from "../support/verifies.ts";

const start: RunStart = {
  type: "run_start",
  responseId: "chat_1",
  conversationId: "conv_1",
  mode: "agent",
  model: "m",
  modelName: "M",
  apiKeySource: "none",
  workspace: "/w",
  permissionMode: "default",
  sandbox: "disabled",
  trusted: false,
  sheafVersion: "0",
  prompt: "one",
};
const bodies: readonly RunEventBody[] = [
  start,
  { type: "turn_start", turn: 1 },
  { type: "text_delta", text: "Hello. " },
  { type: "text_delta", text: "And more." },
  { type: "run_end", reason: "end_turn" },
];
const log: readonly RunEvent[] = bodies.map((body, index) => ({ ...body, seq: index + 1, time: 1000 }));
const events = assemble(log);
const good: ClusterHistory = {
  sent: [
    { text: "one", acknowledgedAs: "chat_1" },
    { text: "two", acknowledgedAs: undefined },
  ],
  readings: [{ responseId: "chat_1", events, isWhole: true }],
  answers: [{ responseId: "chat_1", response: reduce(events), how: "GET" }],
  stored: [log],
  effects: ["a", "b"],
};
const stale = events.map((event) =>
  event.event === "content_delta" ? { ...event, data: { ...event.data, delta: "Stale." } } : event,
);

test(verifies("R-44", "a history in which all is well has no problems"), () => {
  expect(checkHistory(good)).toEqual([]);
});

test.each<[string, Partial<ClusterHistory>, RegExp]>([
  ["an acknowledged message that is lost", { stored: [] }, /acknowledged, and is lost/],
  ["a message that is stored twice", { stored: [log, log] }, /stored 2 times/],
  ["an event that is lost in the log", { stored: [log.filter(({ seq }) => seq !== 3)] }, /event 4 is at place 3/],
  ["an event that is stored twice", { stored: [[...log.slice(0, 3), ...log.slice(2)]] }, /event 3 is at place 4/],
  ["a second end", { stored: [[...log, { ...log.at(-1)!, seq: 6 }]] }, /run_end at place 5 of 6/],
  [
    "an event that a reader missed",
    { readings: [{ responseId: "chat_1", events: events.toSpliced(2, 1), isWhole: true }] },
    /nothing between/,
  ],
  [
    "an event that a reader got twice",
    { readings: [{ responseId: "chat_1", events: [...events.slice(0, 3), ...events.slice(2)], isWhole: true }] },
    /got event 3 after 3/,
  ],
  [
    "a write of a writer that was replaced",
    { readings: [{ responseId: "chat_1", events: stale, isWhole: true }] },
    /not stored so/,
  ],
  [
    "a stream without an end",
    { readings: [{ responseId: "chat_1", events: events.slice(0, -1), isWhole: true }] },
    /no end/,
  ],
  [
    "a refused message that runs",
    { sent: [{ text: "one", acknowledgedAs: undefined, refusedWith: 503 }] },
    /"one" got 503, and is stored/,
  ],
  [
    "an answer that is not stored",
    { answers: [{ responseId: "chat_1", response: { ...reduce(events), status: "error" }, how: "POST" }] },
    /"status":"error".*not stored so/,
  ],
  ["a call that ran twice", { effects: ["a", "b", "a"] }, /a happened twice/],
])(verifies("R-44", "%s is found"), (_, planted, problem) => {
  expect(checkHistory({ ...good, ...planted })).toContainEqual(expect.stringMatching(problem));
});
