/** Images and PDF from the command line to the provider, and what formats show of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shortAnswers } from "../../packages/models/test/live/live-setup.ts";
import { createPng, pdf } from "../support/images.ts";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { createTestFolder, runSheaf, type SheafResult } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const png = createPng(640, 480, 3000);
const data = png.toString("base64");

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer({ chunks: shortAnswers["anthropic-messages"] });
});
afterAll(() => server.close());

interface Place {
  readonly cwd: string;
  readonly run: (...args: readonly string[]) => Promise<SheafResult>;
}

function createPlace(): Place {
  const cwd = folders.newFolder({ "shot.png": png, "spec.pdf": pdf, "notes.txt": "text", "a.bin": "a\0b" });
  const home = join(cwd, ".home");
  const live = ["--model", "anthropic/claude-sonnet-4-5", "--api-key", "test-key", "--base-url", `${server.url}/v1`];
  return { cwd, run: (...args) => runSheaf(args[0] === "-p" ? [...args, ...live] : args, { cwd, home }) };
}

type Message = { readonly role: string; readonly content: readonly Readonly<Record<string, unknown>>[] };

function readPrompt(): Message["content"] {
  const { messages } = JSON.parse(server.requests.at(-1)?.body ?? "") as { messages: readonly Message[] };
  return messages[0]?.content ?? [];
}

describe("attachments of a prompt", () => {
  test(
    verifies(["C42", "C149", "N126", "N66"], "are sent, sent again after a resume, and shown by no format"),
    async () => {
      const { run } = createPlace();
      const files = ["--file", "shot.png", "--image", "spec.pdf", "--file", "notes.txt"];
      const first = await run("-p", "Compare", ...files, "--output-format", "stream-json");
      expect(first).toMatchObject({ code: 0, stderr: "" });
      const source = { type: "base64", media_type: "image/png", data };
      const sent = readPrompt().slice(1, 3);
      expect(sent).toMatchObject([{ type: "image", source }, { type: "document" }]);
      const { session_id: session = "" } = JSON.parse(first.stdout.split("\n", 1)[0]!) as { session_id?: string };

      const prompt = expect.stringMatching(/^Compare\n\(Attached: notes.txt \(text\/plain, 4 bytes\)/) as string;
      await run("-p", "And now?", "--resume", session);
      expect(readPrompt().slice(1)).toMatchObject([...sent, { type: "text", text: prompt }]);
      for (const format of ["text", "json", "stream-json", "documents", "documents-stream"]) {
        const { code, stdout } = await run("show", session, "--output-format", format);
        expect([format, code, stdout.includes(data.slice(0, 64))]).toEqual([format, 0, false]);
      }
      expect(first.stdout).not.toContain(data.slice(0, 64));
      const { stdout: exported } = await run("export", session, "--format", "markdown");
      expect(exported).not.toContain(data.slice(0, 64));
      expect(exported).toContain(`[shot.png (image/png, 640 x 480 px, ${png.length} bytes)]`);
    },
  );

  test(verifies(["S-102", "S-91"], "an export with an attachment that is not what it says is refused"), async () => {
    const { cwd, run } = createPlace();
    const { stdout } = await run("-p", "Look", "--image", "shot.png", "--output-format", "json");
    const { session_id: session } = JSON.parse(stdout) as { session_id: string };
    const exported = (await run("export", session)).stdout;
    const file = join(cwd, "export.json");
    for (const [from, to] of [
      ['"mediaType":"image/png"', '"mediaType":"image/gif"'],
      ['"width":640', '"width":64'],
      [data.slice(0, 8), "https://"],
      ['"name":"shot.png"', '"name":"../shot.png"'],
      ['"name":"shot.png"', '"url":"https://evil.example/a.png","name":"shot.png"'],
    ] as const) {
      expect(exported).toContain(from);
      writeFileSync(file, exported.replace(from, to));
      const { code, stderr } = await run("import", file);
      expect([to, code, stderr]).toEqual([
        to,
        2,
        expect.stringContaining("an attachment of response 1 differs from its description"),
      ]);
    }
    writeFileSync(file, exported);
    expect((await run("import", file)).code).toBe(0);
  });

  test(
    verifies(["N66", "N68"], "an image that read_file opens reaches the model, after a resume with the same bytes"),
    async () => {
      const { run } = createPlace();
      const call = { type: "tool_use", id: "toolu_1", name: "read_file", input: {} };
      const args = { type: "input_json_delta", partial_json: '{"target_file":"shot.png"}' };
      const hello = { chunks: shortAnswers["anthropic-messages"] };
      server.answer(
        {
          chunks: [
            { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], usage: {} } },
            { type: "content_block_start", index: 0, content_block: call },
            { type: "content_block_delta", index: 0, delta: args },
            { type: "content_block_stop", index: 0 },
            { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
            { type: "message_stop" },
          ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
        },
        hello,
      );
      const { code, stdout } = await run("-p", "Look at shot.png", "--output-format", "stream-json");
      expect(code).toBe(0);
      expect(stdout).not.toContain(data.slice(0, 64));
      expect(stdout).toContain("shot.png (image/png, 640 x 480 px, 3033 bytes)");
      const source = { type: "base64", media_type: "image/png", data };
      const readResult = (): unknown => {
        const { messages } = JSON.parse(server.requests.at(-1)?.body ?? "") as { messages: readonly Message[] };
        return messages[2]?.content[0]?.["content"];
      };
      const sent = readResult();
      expect(sent).toEqual([
        { type: "text", text: "shot.png (image/png, 640 x 480 px, 3033 bytes)" },
        { type: "image", source },
      ]);
      const { session_id: session = "" } = JSON.parse(stdout.split("\n", 1)[0]!) as { session_id?: string };
      expect((await run("-p", "And now?", "--resume", session)).code).toBe(0);
      expect(readResult()).toEqual(sent);
      // A model that sees nothing goes on with the same session.
      expect((await run("--print", "Hello", "--resume", session, "--model", "offline")).code).toBe(0);
    },
  );

  test(verifies("C42", "what cannot be attached ends the run before anything is sent"), async () => {
    const { run } = createPlace();
    const before = server.requests.length;
    for (const [file, problem] of [
      ["none.png", "none.png does not exist"],
      ["", "--file names no file"],
      ["a.bin", "a.bin is not a PNG, JPEG, GIF or WebP image and not a PDF"],
    ] as const) {
      const { code, stderr } = await run("-p", "Look", "--image", file);
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
    }
    const { code, stderr } = await run("--print", "Look", "--image", "shot.png", "--model", "offline");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("does not take image/png, so shot.png cannot be attached"),
    ]);
    expect(server.requests).toHaveLength(before);
  });
});
