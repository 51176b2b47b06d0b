/**
 * Speed of the scanner for tool arguments that come in pieces of 4 characters.
 * `node bench/arguments-json.ts`; goal: 60 MB/s.
 */
import { createJsonScanner } from "../packages/documents/src/incremental-json.ts";

const runs = 7;

function toChunks(text: string, size: number): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += size) chunks.push(text.slice(at, at + size));
  return chunks;
}

function measure(chunks: readonly string[], depth: number): number {
  const scanner = createJsonScanner({ depth });
  let events = 0;
  const start = performance.now();
  for (const chunk of chunks) events += scanner.push(chunk).length;
  const milliseconds = performance.now() - start;
  if (scanner.state !== "done" || events === 0) throw new Error(`the scanner ended ${scanner.state}`);
  return milliseconds;
}

const code = 'export function add(a: number, b: number): number {\n  return a + b; // "sum"\n}\n';
const plain = "The quick brown fox jumps over the lazy dog. ";
const cases = [
  { name: "write_file, plain text", depth: 1, value: { target_file: "a.md", content: plain.repeat(93_000) } },
  { name: "write_file, code", depth: 1, value: { target_file: "src/a.ts", content: code.repeat(50_000) } },
  {
    name: "edit_file, code",
    depth: 3,
    value: { target_file: "src/a.ts", edits: [{ old_string: "x", new_string: code.repeat(50_000) }] },
  },
];

for (const { name, depth, value } of cases) {
  const text = JSON.stringify(value);
  const chunks = toChunks(text, 4);
  const times = Array.from({ length: runs }, () => measure(chunks, depth)).toSorted((a, b) => a - b);
  const median = times[Math.floor(runs / 2)] ?? 0;
  const rate = text.length / 1000 / median;
  process.stdout.write(
    `${name}: ${(text.length / 1e6).toFixed(1)} MB in ${median.toFixed(1)} ms, ${rate.toFixed(0)} MB/s\n`,
  );
}
