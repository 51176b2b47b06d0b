/** Half a surrogate pair, from every side that can write one: nothing of it leaves Sheaf. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf, toLines, toTexts } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
/** JSON of half a character, as it is escaped (in the draft of arguments the escape is text of the model), and as a program that does not care writes it in UTF-8. */
const half = /(?<!\\)\\u[dD][89a-fA-F]|\u00ed[\u00a0-\u00bf][\u0080-\u00bf]/;

let model: ModelServer;
beforeAll(async () => {
  model = await createModelServer();
});
afterAll(() => model.close());

const toChunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const toCall = (name: string, args: string) => ({
  tool_calls: [{ index: 0, id: "x", type: "function", function: { name, arguments: args } }],
});
const done = "data: [DONE]\n\n";
const calling = [
  toChunk({ content: "one \ud83d" }),
  toChunk({ content: "\ude42 two \ud83d" }),
  toChunk({ content: " three" }),
  toChunk({ reasoning_content: "why \ud83d" }),
  // The arguments are JSON by themselves, which has its own escapes.
  toChunk(toCall("write_file", '{"target_file":"a.txt","content":"x\\ud83dy"}'), "tool_calls"),
  done,
];
const failing = [toChunk(toCall("read_file", '{"target_file":"b\\ude42.txt"}'), "tool_calls"), done];
const ending = [toChunk({ content: "the end \ud83d" }, "stop"), done];
const shown = "one 🙂 two \ufffd three";

test(
  verifies("S-93", "of a model: halves are joined, and one alone is U+FFFD, in requests, storage and every format"),
  async () => {
    model.answer({ chunks: calling }, { chunks: failing }, { chunks: ending });
    const cwd = folders.newFolder();
    const home = join(cwd, ".home");
    const args = [
      "-p",
      "--force",
      "--model",
      "openai-chat/m",
      "--base-url",
      model.url,
      "--api-key",
      "key",
      "--include-thinking",
    ];
    const { code, stdout } = await runSheaf([...args, "go"], { cwd, home });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(half);
    const lines = parseStream(stdout);
    expect(toTexts(lines).join("")).toContain(shown);
    const session = String(lines.at(-1)!.session_id);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("x\ufffdy");
    for (const format of ["json", "stream-json", "documents", "documents-stream", "text"]) {
      const { stdout: again } = await runSheaf(["show", session, "--output-format", format], { cwd, home });
      expect(again, format).not.toBe("");
      expect(again, format).not.toMatch(half);
    }
    const documents = (await runSheaf(["show", session, "--output-format", "documents"], { cwd, home })).stdout;
    expect(documents).toContain(shown);
    expect((await runSheaf(["export", session], { cwd, home })).stdout).not.toMatch(half);
    for (const name of ["sheaf.db", "sheaf.db-wal"]) {
      expect(readFileSync(join(home, name), { encoding: "latin1", flag: "a+" })).not.toMatch(half);
    }
    expect(model.requests.length).toBeGreaterThanOrEqual(3);
    for (const { body } of model.requests) expect(body).not.toMatch(half);
  },
);

test(verifies("S-93", "of a program that is converted"), async () => {
  const cwd = folders.newFolder();
  for (const [from, input] of [
    ["openai-chat", calling.join("")],
    [
      "cursor-stream-json",
      `${JSON.stringify({ type: "user", message: { content: [{ type: "text", text: "\ud83d" }] } })}\n${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "a\ude42" }] } })}\n`,
    ],
  ] as const) {
    for (const to of ["documents", "documents-stream"]) {
      const { stdout } = await runSheaf(["convert", "--from", from, "--to", to], { cwd, input });
      expect(toLines(stdout).length).toBeGreaterThan(0);
      expect(stdout).not.toMatch(half);
    }
  }
});

test(verifies("S-93", "of a client, in a message and wherever a request can have text"), async () => {
  model.answer({ chunks: ending });
  const cwd = folders.newFolder();
  const server = await startServer({ cwd });
  const answer = await server.fetch("/v1/chat", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"message":"half \\ud83d of it"}',
  });
  const stream = await answer.text();
  expect(answer.status).toBe(200);
  expect(stream).not.toMatch(half);
  for (const [path, body] of [
    ["/v1/chat", '{"message":"x","conversationId":"\\ud83d"}'],
    ["/v1/chat", '{"message":"x","workspace":"\\ud83d"}'],
    ["/v1/chat", '{"message":"x","model":"\\ud83d"}'],
    ["/v1/session", '{"ticket":"\\ud83d"}'],
  ] as const) {
    const refused = await server.fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(refused.status, body).toBeGreaterThanOrEqual(400);
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message.isWellFormed(), body).toBe(true);
  }
  const listed = await (await server.fetch("/v1/conversations")).text();
  expect(listed).toContain("half \ufffd of it");
  const [{ id }] = (JSON.parse(listed) as { conversations: [{ id: string }] }).conversations;
  expect(await (await server.fetch(`/v1/conversations/${id}`)).text()).not.toMatch(half);
});

test(verifies("S-93", "a long title is not cut inside a character"), async () => {
  const cwd = folders.newFolder();
  const home = join(cwd, ".home");
  await runSheaf(["-p", "--model", "offline", `${"x".repeat(78)}🙂🙂🙂`], { cwd, home });
  const [row] = JSON.parse((await runSheaf(["ls", "--json"], { cwd, home })).stdout) as { title: string }[];
  expect(row!.title).toMatch(/^x{78}\ufffd?…$/);
});

test(verifies("S-93", "of a file that is imported"), async () => {
  const cwd = folders.newFolder();
  const home = join(cwd, ".home");
  await runSheaf(["-p", "--model", "offline", "hello half of it"], { cwd, home });
  const [row] = JSON.parse((await runSheaf(["ls", "--json"], { cwd, home })).stdout) as { session_id: string }[];
  const exported = (await runSheaf(["export", row!.session_id], { cwd, home })).stdout;
  writeFileSync(join(cwd, "half.json"), exported.replaceAll("half", "\\ud83d"));
  const other = join(cwd, ".other");
  expect((await runSheaf(["import", "half.json"], { cwd, home: other })).code).toBe(0);
  const { stdout } = await runSheaf(["show", row!.session_id], { cwd, home: other });
  expect(stdout).toContain("hello \ufffd of it");
  expect(stdout).not.toMatch(half);
});
