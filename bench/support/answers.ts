/** The texts that the benchmarks feed, and their chunks. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseText } from "@sheaf/documents";

/** Characters in what is called a MB here. */
export const million = 1_000_000;

/** Characters in a chunk: about what a token of a model holds. */
export const chunkLength = 4;

/** All recorded answers, or a text of all kinds of blocks where there are none. */
export function loadAnswers(): { readonly text: string; readonly source: string } {
  const folder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures"));
  const answers = join(folder, "markdown/answers");
  if (!existsSync(answers)) return { text: createAnswer(), source: `a made-up answer, for there is no ${answers}` };
  const texts = readdirSync(answers).map((name) => readFileSync(join(answers, name), "utf8"));
  // An unclosed fence would swallow the answers behind it.
  const closed = texts.filter((text) => parseText(text).every((segment) => segment.closed));
  return { text: closed.join("\n\n"), source: `${closed.length} recorded answers, again and again` };
}

function createAnswer(): string {
  const code = '```ts title="a.ts"\nexport const answer = 42;\n\nfor (const x of y) {\n  print(x);\n}\n```\n';
  const list =
    "1. Install it:\n\n   ```sh\n   npm ci\n   ```\n\n2. Run `npm test`.\n   - nested, *with* [a link](https://x.y)\n";
  const text = "This is a paragraph of text that goes on for a while, as they do, with `code` and more words in it.\n";
  return Array.from({ length: 50 }, () => `# Heading\n\n${text}${text}\n${code}\n${list}\n> ${text}\n`).join("");
}

/** The text again and again, `length` characters of it, flat in memory. */
export function toLength(text: string, length: number): string {
  const repeated = `${text}\n\n`.repeat(Math.ceil(length / text.length));
  return Buffer.from(repeated, "utf16le").toString("utf16le", 0, length * 2);
}

/** What a model writes to create a file: the JSON text of the arguments, about `length` characters. */
export function createArguments(length: number): string {
  const code = 'export function add(a: number, b: number): number {\n  return a + b; // "sum"\n}\n';
  const content = code.repeat(Math.ceil(length / JSON.stringify(code).length));
  return JSON.stringify({ target_file: "src/add.ts", content });
}

/** The same for an edit, whose text is three levels deep. */
export function createEditArguments(length: number): string {
  const { content } = JSON.parse(createArguments(length)) as { readonly content: string };
  return JSON.stringify({ target_file: "src/add.ts", edits: [{ old_string: "x", new_string: content }] });
}

/** Characters in a block; a multiple of the chunk length. */
const blockLength = 400;

/**
 * The chunks of a text, each as compact in memory as what `JSON.parse` makes of a provider's payload: one byte a
 * character where that will do, though one character of the text may need two.
 */
export function toChunks(text: string): string[] {
  const chunks: string[] = [];
  for (let start = 0; start < text.length; start += blockLength) {
    const block = toCompact(text.slice(start, start + blockLength));
    for (let at = 0; at < block.length; at += chunkLength) chunks.push(block.slice(at, at + chunkLength));
  }
  return chunks;
}

function toCompact(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const compact = bytes.toString("latin1");
  return compact === text ? compact : text;
}
