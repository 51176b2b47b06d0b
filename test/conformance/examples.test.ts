/** The example sequence of the format, in every language in which it is published. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestFolder, parseStream, runSheaf, toKinds, toTexts } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const readme = `# Wordy

Wordy counts words in text files. It is small and has no dependencies.

## Install

Run \`npm install wordy\`.

## Use

- \`wordy FILE\` prints the number of words.
- \`wordy --json FILE\` prints an object.

## Licence

MIT
`;

const prompts = {
  de: "Lies die README.md und erstelle eine Zusammenfassung",
  tr: "README.md dosyasını oku ve bir özet çıkar",
  "zh-TW": "讀取 README.md 並建立摘要",
  ja: "README.md を読んで要約を作成して",
  en: "Read README.md and create a summary",
} as const;

const folders = createTestFolder();

interface Payload {
  readonly args: Record<string, unknown>;
  readonly result?: { readonly success: Record<string, unknown> };
}

describe.each(Object.entries(prompts))("the example prompt in %s", (_language, prompt) => {
  test(verifies(["C5", "C6", "C7", "C8", "C9", "C10", "C14", "C15"], "gives the example sequence"), async () => {
    const cwd = folders.newFolder({ "README.md": readme });
    const { code, stdout, stderr } = await runSheaf(["-p", "--model", "offline", prompt], { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    const lines = parseStream(stdout);

    const kinds = toKinds(lines).filter((kind, index, all) => kind !== "assistant" || all[index - 1] !== "assistant");
    expect(kinds).toEqual([
      "system/init",
      "user",
      "assistant",
      "tool_call/started",
      "tool_call/completed",
      "assistant",
      "tool_call/started",
      "tool_call/completed",
      "result/success",
    ]);
    expect(toKinds(lines).slice(2, 4)).toEqual(["assistant", "assistant"]);

    const [readStarted, readCompleted, writeStarted, writeCompleted] = lines.filter(({ type }) => type === "tool_call");
    expect(readStarted!.call_id).toBe(readCompleted!.call_id);
    expect(writeStarted!.call_id).toBe(writeCompleted!.call_id);
    expect(readStarted!.call_id).not.toBe(writeStarted!.call_id);

    const read = (readCompleted!.tool_call as { readToolCall: Payload }).readToolCall;
    expect((readStarted!.tool_call as { readToolCall: Payload }).readToolCall).toEqual({ args: read.args });
    expect(read.args).toEqual({ path: "README.md" });
    expect(read.result!.success).toMatchObject({
      content: readme,
      isEmpty: false,
      exceededLimit: false,
      totalLines: readme.split("\n").length,
      totalChars: readme.length,
    });

    const write = (writeCompleted!.tool_call as { writeToolCall: Payload }).writeToolCall;
    const summary = readFileSync(join(cwd, "summary.txt"), "utf8");
    expect(write.args).toEqual({ path: "summary.txt", fileText: summary, toolCallId: writeStarted!.call_id });
    expect(write.result!.success).toEqual({
      path: join(cwd, "summary.txt"),
      linesCreated: summary.trimEnd().split("\n").length,
      fileSize: Buffer.byteLength(summary),
    });
    expect(summary).toContain("Wordy");
    expect(summary).toContain("counts words in text files");

    const result = lines.at(-1)!;
    expect(toTexts(lines).join("")).toBe(result.result);
    expect(result.duration_api_ms).toBe(result.duration_ms);
    expect(result.session_id).toBe(lines[0]!.session_id);
    expect(new Set(lines.map(({ session_id }) => session_id)).size).toBe(1);
    expect((lines[1]!.message as { content: [{ text: string }] }).content[0].text).toBe(prompt);
    expect(lines[0]!.cwd).toBe(cwd);
  });
});

test(verifies("C11", "the same run as text, in the words of the locale"), async () => {
  const cwd = folders.newFolder({ "README.md": readme });
  const run = (prompt: string, environment: Record<string, string>) =>
    runSheaf(["-p", "--model", "offline", "--output-format", "text", prompt], { cwd, environment });
  const german = await run(prompts.de, { LC_ALL: "de_DE.UTF-8" });
  expect(german.stdout).toMatch(/^Datei gelesen\nNeue Datei erstellt\n\n\S.*\n$/);
  const english = await run(prompts.en, { LANG: "C.UTF-8" });
  expect(english.stdout).toMatch(/^Read file\nEdited file\n\n\S.*\n$/);
  expect([german.code, german.stderr, english.code, english.stderr]).toEqual([0, "", 0, ""]);
});
