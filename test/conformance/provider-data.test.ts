/** What a provider wants back of its answers goes through the log: also after a restart, and into no output. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWithFixtures } from "../support/fixtures.ts";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(() => server.close());

interface Recording {
  readonly file: string;
  readonly model: string;
  /** Finds the opaque texts in the recorded body. */
  readonly pattern: RegExp;
  /** The opaque texts of the request's body, in order. */
  readonly read: (body: never) => readonly unknown[];
  /** The answer after it, where the recorded one calls a tool. */
  readonly ending?: string;
}

const recordings: readonly Recording[] = [
  {
    file: "recorded/anthropic__claude-sonnet-4-5__anthropic-mcp-servers-stream__0.sse",
    model: "anthropic/claude-sonnet-4-5",
    pattern: /"signature":"([^"]+)"/g,
    read: ({ messages }: { messages: { content: { signature?: string }[] }[] }) =>
      messages[1]!.content.flatMap(({ signature }) => (signature === undefined ? [] : [signature])),
  },
  {
    file: "recorded/openai__gpt-5.5__openai-responses-phase-streamed-on-part-start__0.sse",
    model: "openai/gpt-5.5",
    pattern: /"response.output_item.done".*"encrypted_content":"([^"]+)"/g,
    read: ({ input }: { input: { encrypted_content?: string }[] }) =>
      input.flatMap((item) => (item.encrypted_content === undefined ? [] : [item.encrypted_content])),
    ending: [
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Done." },
      { type: "response.completed", response: { status: "completed" } },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join(""),
  },
  {
    file: "recorded/gemini__gemini-3-flash-preview__google-model-file-search-grounding-gemini-3-true__3.sse",
    model: "google/gemini-3-flash-preview",
    pattern: /"thoughtSignature":\s*"([^"]+)"/g,
    read: ({ contents }: { contents: { parts: { thoughtSignature?: string }[] }[] }) =>
      contents[1]!.parts.flatMap((part) => (part.thoughtSignature === undefined ? [] : [part.thoughtSignature])),
  },
  {
    file: "recorded/openrouter__claude-sonnet-4.5__openrouter-streaming-reasoning__0.sse",
    model: "openrouter/anthropic/claude-sonnet-4.5",
    pattern: /"signature":"([^"]+)"/g,
    read: ({ messages }: { messages: { reasoning_details?: { signature: string }[] }[] }) =>
      messages.flatMap((message) => message.reasoning_details ?? []).map(({ signature }) => signature),
  },
];

describeWithFixtures("providers", (folder) => {
  test.each(recordings)(
    verifies(["C12", "C14", "S-41"], "$model gets its own reasoning back after --resume, and no output shows it"),
    async ({ file, model, pattern, read, ending = "" }) => {
      const body = readFileSync(join(folder, file), "utf8");
      const sealed = [...body.matchAll(pattern)].map(([, text]) => text!);
      expect(sealed.length).toBeGreaterThan(0);
      server.answer(...[body, ending].filter(Boolean).map((chunk) => ({ chunks: [chunk] })));
      const cwd = folders.newFolder();
      const args = ["-p", "--model", model, "--base-url", server.url, "--api-key", "test-key", "--include-thinking"];
      const first = await runSheaf([...args, "go"], { cwd });
      expect([first.code, first.stderr]).toEqual([0, ""]);
      const session = String(parseStream(first.stdout)[0]!.session_id);
      const second = await runSheaf([...args, `--resume=${session}`, "go on"], { cwd });
      expect(second.code).toBe(0);
      expect(read(JSON.parse(server.requests.at(-1)!.body) as never)).toEqual(sealed);

      const outputs = [first.stdout];
      for (const format of ["stream-json", "documents", "documents-stream", "text", "json"]) {
        outputs.push((await runSheaf(["show", session, "--output-format", format], { cwd })).stdout);
      }
      for (const output of outputs) for (const text of sealed) expect(output).not.toContain(text);
    },
  );
});
