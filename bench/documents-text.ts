/**
 * Speed of the text parser: `node bench/documents-text.ts [--quick] [megabytes…]`.
 * Feeds answers, joined to the given sizes (default 1, 10 and 100 MB; quick: 1 MB), in chunks of four characters, as a fast model
 * would send them, and compares with a plain line scan over the same chunks and with micromark on the complete text.
 * Goal: a quarter of the speed of the line scan, the same for all sizes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { micromark } from "micromark";
import { createTextParser } from "../packages/documents/src/text-parser.ts";

const chunkLength = 4;
const million = 1_000_000;
/** micromark gets slower with the length, so it gets no more than this. */
const longestForMicromark = million;

interface Measurement {
  readonly name: string;
  readonly length: number;
  readonly milliseconds: number;
  readonly counted: string;
}

/** All recorded answers, or a text of all kinds of blocks where there are none. */
function loadAnswers(): string {
  const folder = resolve(process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../shared/fixtures"));
  const answers = join(folder, "markdown/answers");
  if (existsSync(answers)) {
    const texts = readdirSync(answers).map((name) => readFileSync(join(answers, name), "utf8"));
    // An unclosed fence would swallow the answers behind it.
    return texts.filter((text) => isClosedAtEnd(text)).join("\n\n");
  }
  const code = '```ts title="a.ts"\nexport const answer = 42;\n\nfor (const x of y) {\n  print(x);\n}\n```\n';
  const list =
    "1. Install it:\n\n   ```sh\n   npm ci\n   ```\n\n2. Run `npm test`.\n   - nested, *with* [a link](https://x.y)\n";
  const text = "This is a paragraph of text that goes on for a while, as they do, with `code` and more words in it.\n";
  return Array.from({ length: 50 }, () => `# Heading\n\n${text}${text}\n${code}\n${list}\n> ${text}\n`).join("");
}

function isClosedAtEnd(text: string): boolean {
  const parser = createTextParser();
  parser.push(text);
  return parser.end().every((event) => event.type !== "segment_end" || event.closed);
}

/** `length` characters of the text again and again, flat in memory. */
function toLength(text: string, length: number): string {
  return Buffer.from(`${text}\n\n`.repeat(Math.ceil(length / text.length)), "utf16le").toString(
    "utf16le",
    0,
    length * 2,
  );
}

function toChunks(text: string): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += chunkLength) chunks.push(text.slice(at, at + chunkLength));
  return chunks;
}

/** The fastest of three runs; one will do for a long text. */
function measureBest(text: string, run: (text: string) => Measurement): Measurement {
  const rounds = text.length > 20 * million ? 1 : 3;
  const measurements = Array.from({ length: rounds }, () => run(text));
  return measurements.reduce((best, next) => (next.milliseconds < best.milliseconds ? next : best));
}

/** Chunks are made and fed in parts, so that 100 MB of them need not be in memory at once. */
function measure(
  name: string,
  text: string,
  feed: (chunks: readonly string[]) => void,
  count: () => string,
): Measurement {
  let milliseconds = 0;
  for (let at = 0; at < text.length; at += million) {
    const chunks = toChunks(text.slice(at, at + million));
    const start = performance.now();
    feed(chunks);
    milliseconds += performance.now() - start;
  }
  return { name, length: text.length, milliseconds, counted: count() };
}

function measureLineScan(text: string): Measurement {
  let line = "";
  let lines = 0;
  let longest = 0;
  const feed = (chunks: readonly string[]): void => {
    for (const chunk of chunks) {
      let from = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
        line += chunk.slice(from, end);
        if (line.length > longest) longest = line.length;
        lines += 1;
        line = "";
        from = end + 1;
      }
      line += from === 0 ? chunk : chunk.slice(from);
    }
  };
  return measure("line scan", text, feed, () => `${lines} lines, longest ${longest}`);
}

function measureParser(text: string): Measurement {
  const parser = createTextParser();
  let events = 0;
  let segments = 0;
  let characters = 0;
  const feed = (chunks: readonly string[]): void => {
    for (const chunk of chunks) {
      for (const event of parser.push(chunk)) {
        events += 1;
        if (event.type === "segment_start") segments += 1;
        else if (event.type === "segment_delta") characters += event.delta.length;
      }
    }
  };
  return measure("text parser", text, feed, () => `${events} events, ${segments} segments, ${characters} characters`);
}

function measureMicromark(text: string): Measurement {
  const start = performance.now();
  const html = micromark(text);
  return {
    name: "micromark, whole text",
    length: text.length,
    milliseconds: performance.now() - start,
    counted: `${html.length} characters of HTML`,
  };
}

function format({ name, length, milliseconds, counted }: Measurement): string {
  const speed = length / million / (milliseconds / 1000);
  const size = `${(length / million).toFixed(0)} MB`;
  return `${name.padEnd(22)} ${size.padStart(6)} ${milliseconds.toFixed(0).padStart(7)} ms ${speed.toFixed(1).padStart(7)} MB/s   ${counted}`;
}

const wanted = process.argv.map(Number).filter((size) => size > 0);
const sizes = process.argv.includes("--quick") ? [1] : wanted.length > 0 ? wanted : [1, 10, 100];
const answers = loadAnswers();
// Warm up, so that the first size is not the slowest.
measureLineScan(toLength(answers, 2 * million));
measureParser(toLength(answers, 2 * million));
for (const size of sizes) {
  const text = toLength(answers, size * million);
  const scan = measureBest(text, measureLineScan);
  const parser = measureBest(text, measureParser);
  process.stdout.write(`${format(scan)}\n${format(parser)}\n`);
  process.stdout.write(
    `${"".padEnd(22)} ${(scan.milliseconds / parser.milliseconds).toFixed(2)} of the speed of the line scan\n`,
  );
}
process.stdout.write(`${format(measureMicromark(toLength(answers, longestForMicromark)))}\n`);
