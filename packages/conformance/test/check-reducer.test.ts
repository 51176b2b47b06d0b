import { createReducer, type Reducer, type StreamEvent } from "@sheaf/protocol";
import { explainChatResponse } from "@sheaf/protocol/validate";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { checkReducer, type ReducerUnderTest } from "../src/check-reducer.ts";
import { createReducerVectors } from "../src/reducer-vectors.ts";

const failures = (create: () => ReducerUnderTest): string[] =>
  checkReducer(create).flatMap(({ name, message }) => (message === undefined ? [] : [name]));

test(verifies("X12", "the reducer of the protocol passes"), () => {
  expect(failures(createReducer)).toEqual([]);
});

test("the vectors are valid responses, and no two are the same", () => {
  const vectors = createReducerVectors();
  const withIdentity = vectors.filter(({ name }) => name !== "a base stream");
  expect(
    withIdentity.map(({ expected }) => explainChatResponse(expected)).filter((each) => each !== undefined),
  ).toEqual([]);
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  expect(vectors.length).toBeGreaterThanOrEqual(30);
});

/** The reducer of the protocol with one thing changed. */
function breakReducer(
  change: (event: StreamEvent, reducer: Reducer) => StreamEvent | undefined,
): () => ReducerUnderTest {
  return () => {
    const reducer = createReducer();
    let fresh = 0;
    return {
      push(event) {
        const changed = change(event, reducer);
        if (changed) reducer.push({ ...changed, id: (fresh += 1) });
      },
      get response() {
        return reducer.response;
      },
    };
  };
}

const isOld = (event: StreamEvent, seen: Set<number>): boolean => seen.size !== seen.add(event.id).size;

describe("a reducer that is wrong is found out", () => {
  test.each<[string, string, () => (event: StreamEvent) => StreamEvent | undefined]>([
    ["takes repeated events", "every event twice", () => (event) => event],
    ["knows no snapshot", "a snapshot first", () => (event) => (event.event === "snapshot" ? undefined : event)],
    [
      "keeps the deltas",
      "deltas that finalContent replaces",
      () => (event) =>
        event.event === "document_end" && event.data.metadata
          ? { ...event, data: { documentId: event.data.documentId, metadata: event.data.metadata } }
          : event,
    ],
    [
      "forgets the metadata of the end",
      "a whole stream",
      () => (event) => (event.event === "document_end" ? { ...event, data: { ...event.data, metadata: {} } } : event),
    ],
    ["ends nothing", "a whole stream", () => (event) => (event.event === "done" ? undefined : event)],
    [
      "knows no approvals",
      "an open approval",
      () => (event) => (event.event === "approval_request" ? undefined : event),
    ],
    [
      "keeps approvals open",
      "an approval with its answer",
      () => (event) => (event.event === "approval_resolved" ? undefined : event),
    ],
    ["drops live output", "the first 12 events", () => (event) => (event.event === "output_delta" ? undefined : event)],
  ])("%s", (_, name, createChange) => {
    const change = createChange();
    const seen = new Set<number>();
    const isLawless = name === "every event twice";
    const broken = breakReducer((event) => (!isLawless && isOld(event, seen) ? undefined : change(event)));
    expect(failures(() => (seen.clear(), broken()))).toContain(name);
  });

  test("one that throws", () => {
    const [first] = checkReducer(() => ({
      push() {
        throw new Error("no");
      },
      response: undefined,
    }));
    expect(first?.message).toBe("it threw Error: no");
  });
});
