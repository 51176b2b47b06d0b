import { reduce } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { assemble, toResponse } from "../src/assembler.ts";
import { endTurn, toCall, toResult, toRunLog, toTurn } from "./run-log.ts";

test(verifies("C242", "what the user adds is in the stream and in the response, in its place"), () => {
  const file = { name: "a.txt", mediaType: "text/plain", bytes: 1, sha256: "00" } as const;
  const log = toRunLog([
    ...toTurn(1, [{ type: "text_delta", text: "Looking." }, ...toCall("call_1", "read_file", { target_file: "a" })]),
    toResult("call_1", { output: "text" }),
    { type: "user_message", messageId: "chat_b", message: "use tabs", attachments: [{ ...file, data: "YQ==" }] },
    { type: "user_message", message: "and stop" },
    ...toTurn(2, [{ type: "text_delta", text: "Done." }]),
    endTurn,
  ]);
  const stream = assemble(log);
  const { messages } = toResponse(log);
  expect(messages).toEqual([
    { message: "use tabs", messageId: "chat_b", attachments: [file], after: 2 },
    { message: "and stop", after: 2 },
  ]);
  expect(stream.filter(({ event }) => event === "user_message").map(({ data }) => data)).toEqual(messages);
  expect(reduce(stream)).toEqual(toResponse(log));
  expect(verify(stream, { requireExtensions: true })).toBeUndefined();
});
