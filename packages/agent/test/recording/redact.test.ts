import { describe, expect, test } from "vitest";
import { toJsonLine } from "@sheaf/protocol/encode";
import { decodeCassette } from "../../src/recording/decode-cassette.ts";
import { readPrivateWords, redactCassette } from "../../src/recording/redact.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createFakeModel, createFakeTools, end, start, text } from "../run/fake-ports.ts";
import { recordRun, replayText } from "./record-run.ts";

/** Made up, and cut in two so that no scanner takes this file for a leak. */
const secrets = {
  anthropic: ["sk-ant", "-api03-abcdefghijklmnop"].join(""),
  github: ["ghp", "_abcdefghijklmnopqrstuvwxyz0123"].join(""),
  amazon: ["AKIA", "ABCDEFGHIJKLMNOP"].join(""),
  token: ["eyJhbGciOi", "JIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"].join(""),
  environment: "correct horse battery",
};

const words = readPrivateWords(
  { USER: "alice", SOME_TOKEN: secrets.environment, AUTH_PATH: "/usr/bin", KEYBOARD: "de", PATH: "/bin" },
  "/home/alice",
);

const speech = [
  `Key ${secrets.anthropic}, ${secrets.github} or ${secrets.amazon}.`,
  `Bearer ${secrets.token}; ${secrets.environment}!`,
  "Mail alice.b@mail.example.org from /home/alice/src, C:\\Users\\bob\\x and /Users/carol.",
  "https://dave:hunter2@host/x. Alice's alice is malice.",
].join("\n");

function recordPrivateRun() {
  const pieces = speech.match(/[^]{1,3}/g)!.map((piece) => [text(piece)]);
  const model = createFakeModel([
    [
      ...pieces,
      [
        { type: "tool_call_start", callId: "call_1", toolName: "read", documentType: "tool_call" },
        { type: "tool_call_arguments_delta", callId: "call_1", delta: '{"type":"/home/al' },
        { type: "tool_call_arguments_delta", callId: "call_1", delta: 'ice/a"}' },
        { type: "tool_call_arguments", callId: "call_1", arguments: { type: "/home/alice/a" } },
      ],
      [end("tool_calls")],
    ],
    [[text("```1:2:/home/alice/a.ts\nright\n```\n"), end()]],
  ]);
  const tools = createFakeTools({
    read: async (_signal, emit) => {
      emit("stdout", "from al");
      emit("stdout", `ice ${secrets.github.slice(0, 9)}`);
      emit("stdout", secrets.github.slice(9));
      return { status: "success", output: `from alice ${secrets.github}` };
    },
  });
  const settings = {
    start: { ...start, workspace: "/home/alice/w", prompt: "I am alice" },
    system: "in /home/alice/w",
  };
  return recordRun(model, { tools, settings });
}

describe("a redacted cassette", () => {
  test(verifies(["X11", "S-41"], "holds nothing private, however it was cut, and keeps lengths"), async () => {
    const { cassette: recorded } = await recordPrivateRun();
    const { header, records } = redactCassette(decodeCassette(recorded, "f"), words);
    const redacted = [header, ...records].map((record) => `${toJsonLine(record)}\n`).join("");
    const spoken = (await replayText(redacted))
      .map((event) => (event.type === "text_delta" ? event.text : ""))
      .join("");
    expect(spoken.split("\n").slice(0, 4)).toEqual([
      `Key sk-ant-${"x".repeat(22)}, ghp_${"x".repeat(30)} or AKIA${"x".repeat(16)}.`,
      `Bearer ${"x".repeat(secrets.token.length)}; ${"x".repeat(21)}!`,
      "Mail xxxxxxxxxxxxxxxxxxxxxxxx from /home/xxxxx/src, C:\\Users\\xxx\\x and /Users/xxxxx.",
      "https://xxxxxxxxxxxx@host/x. Alice's xxxxx is malice.```1:2:/home/xxxxx/a.ts",
    ]);
    const all = JSON.stringify(await replayText(redacted)) + redacted;
    for (const secret of [...Object.values(secrets), "alice/", "hunter2", "@mail", "bob"]) {
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
    }
    expect(header).toMatchObject({ redacted: true, start: { workspace: "/home/xxxxx/w", prompt: "I am xxxxx" } });
  });

  test(verifies("X11", "replays: the same events with the same times and lengths"), async () => {
    const { cassette: recorded, events } = await recordPrivateRun();
    const { header, records } = redactCassette(decodeCassette(recorded, "f"), words);
    const replayed = await replayText([header, ...records].map((record) => toJsonLine(record)).join("\n"));
    expect(replayed.map(({ type, seq, time }) => [type, seq, time])).toEqual(
      events.map(({ type, seq, time }) => [type, seq, time]),
    );
    expect(JSON.stringify(replayed)).toHaveLength(JSON.stringify(events).length);
    expect(replayed.at(-1)).toMatchObject({ reason: "end_turn" });
  });
});

test("private words are names of the user and values that look like secrets", () => {
  expect(words).toEqual({ names: ["alice"], secrets: [secrets.environment] });
  expect(readPrivateWords({ USER: "root", MY_API_KEY: "123" }, "/root")).toEqual({ names: [], secrets: [] });
});
