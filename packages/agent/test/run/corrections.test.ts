import type { RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createHistory } from "../../src/run/history.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { call, createFakeModel, createFakeTools, end, ok, runModel, text } from "./fake-ports.ts";

describe("code references", () => {
  const checks = (groups: readonly (readonly RunEvent[])[]) =>
    groups
      .flat()
      .flatMap((event, place, all) =>
        event.type === "reference_check" ? [[event.index, event.verified, all[place + 1]!.type]] : [],
      );

  test(verifies("N22", "are looked up when they close, in front of the event that closes them"), async () => {
    const groups = await runModel(
      createFakeModel([
        [["```1:1:a.ts\nri", "ght\n``", "`\n\n```2:3:b.ts\nwrong\n```\n```js\nx\n```\n"].map(text), [end()]],
      ]),
    );
    // Both are closed by the third delta.
    expect(checks(groups)).toEqual([
      [0, true, "reference_check"],
      [1, false, "text_delta"],
    ]);
  });

  test(verifies(["N18", "N22"], "that a tool call or the end of the turn closes are looked up too"), async () => {
    const model = createFakeModel([
      [[text("```1:1:a.ts\nright"), ...call("call_1", "read"), end()]],
      [[text("```1:1:a.ts\nright"), end()]],
    ]);
    const groups = await runModel(model, { tools: createFakeTools({ read: async () => ok() }) });
    expect(checks(groups)).toEqual([
      [0, true, "tool_call_start"],
      [0, true, "turn_end"],
    ]);
  });
});

describe(verifies("N61", "a code reference with wrong lines"), () => {
  const moved = "```5:6:a.ts\nmoved\n```\n";
  const note =
    'Line numbers of your code references were wrong, and have been corrected for the user: "5:6:a.ts" is at 7:8.';

  test("is corrected in the log, and the model is told before its next turn", async () => {
    const model = createFakeModel([
      [[text(moved), ...call("call_1", "read"), end("tool_calls")]],
      [[text("Done."), end()]],
    ]);
    const groups = await runModel(model, { tools: createFakeTools({ read: async () => ok() }) });
    expect(groups.flat().find(({ type }) => type === "reference_check")).toMatchObject({
      verified: true,
      correction: { quoted: "5:6:a.ts", startLine: 7, endLine: 8 },
    });
    expect(model.requests[1]!.messages.at(-1)).toEqual({ role: "user", text: note, isNote: true });
    const history = createHistory();
    for (const event of groups.flat()) history.push(event);
    expect(history.messages.filter((message) => message.role === "user" && message.text === note)).toHaveLength(1);
    // The next request has the same messages, and further ones.
    expect(history.messages.slice(0, 4)).toEqual(model.requests[1]!.messages);
  });

  test("at the end of a run reaches the model with the next message", async () => {
    const groups = await runModel(createFakeModel([[[text(moved), end()]]]));
    const history = createHistory();
    for (const event of groups.flat()) history.push(event);
    expect(history.messages.at(-1)).toEqual({ role: "user", text: note, isNote: true });
  });
});
