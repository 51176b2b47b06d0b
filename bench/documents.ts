/**
 * Speed of the documents library on real answers in chunks of four characters, beside a plain line scan of the same
 * chunks (the floor) and two parsers of Markdown on the complete text; tool arguments beside `JSON.parse` of the whole.
 * `npm run bench -- documents [--quick] [--strict]`; `--strict` fails when a goal is missed.
 */
import { HtmlRenderer, Parser } from "commonmark";
import { micromark } from "micromark";
import {
  chunkLength,
  createArguments,
  createEditArguments,
  loadAnswers,
  million,
  toLength,
} from "./support/answers.ts";
import {
  createAssemblerContender,
  createBytesContender,
  createFileEditContender,
  createLineScan,
  createParserContender,
  createReducerContender,
  createScannerContender,
  createSseContender,
} from "./support/contenders.ts";
import {
  type Contender,
  measureHeldBytes,
  measureInTurns,
  type Measurement,
  measureWhole,
  toCpuPerDelta,
  toSpeed,
  toTenths,
  toTypicalDelta,
} from "./support/measure.ts";

/** Sizes in MB. Parsers of whole texts slow down with the length, so they get the smallest. */
const [small, medium, large] = process.argv.includes("--quick") ? ([1, 2, 4] as const) : ([1, 10, 100] as const);

const answers = loadAnswers();

interface Row {
  readonly name: string;
  readonly measurement: Measurement;
}

function measureRows(text: string, contenders: readonly (readonly [string, () => Contender])[]): Row[] {
  const measurements = measureInTurns(
    text,
    contenders.map(([, create]) => create),
  );
  return contenders.map(([name], at) => ({ name, measurement: measurements[at]! }));
}

function print(row: Row, floor: Measurement, held: number | undefined): void {
  const { length } = row.measurement;
  const cells = [
    row.name.padEnd(34),
    `${(length / million).toFixed(0)} MB`.padStart(6),
    `${toSpeed(row.measurement).toFixed(1)} MB/s`.padStart(11),
    (toSpeed(row.measurement) / toSpeed(floor)).toFixed(2).padStart(6),
    `${toCpuPerDelta(row.measurement).toFixed(0)} ns`.padStart(8),
    (held === undefined ? "" : `${(held / 1024).toFixed(0)} KiB`).padStart(11),
    `  ${row.measurement.described}`,
  ];
  console.log(cells.join(" "));
}

function printHead(title: string, floor: string): void {
  const cells = ["size".padStart(6), "speed".padStart(11), floor.padStart(6), "CPU/delta".padStart(8)];
  console.log(`\n${title.padEnd(34)} ${cells.join(" ")} ${"heap held".padStart(10)}   made`);
}

/** The whole way for text, each step on top of the one before, then parsers that take the text at once. */
function benchText(): { readonly share: number } {
  const text = toLength(answers.text, medium * million);
  const contenders: readonly (readonly [string, () => Contender])[] = [
    ["line scan (the floor)", createLineScan],
    ["text parser", createParserContender],
    ["text parser + assembler", createAssemblerContender],
    ["… + encodeSse", createSseContender],
    ["… + bytes", createBytesContender],
    ["assembler + reducer", createReducerContender],
  ];
  const rows = measureRows(text, contenders);
  const held = contenders.map(([, create]) => measureHeldBytes(text, create));
  const floor = rows[0]!.measurement;
  printHead("text", "floor");
  for (const [at, row] of rows.entries()) print(row, floor, held[at]);
  const whole = toLength(answers.text, small * million);
  const renderer = new HtmlRenderer();
  const parser = new Parser();
  const toHtml: readonly (readonly [string, (text: string) => string])[] = [
    ["micromark, complete text", (source) => `${micromark(source).length} characters of HTML`],
    ["commonmark, complete text", (source) => `${renderer.render(parser.parse(source)).length} characters of HTML`],
  ];
  for (const [name, run] of toHtml) print({ name, measurement: measureWhole(whole, run) }, floor, undefined);
  return { share: toSpeed(rows[2]!.measurement) / toSpeed(floor) };
}

/** While the model writes a file: the scanner alone, the document that comes of it, and the value at the end. */
function benchArguments(): { readonly speed: number } {
  const create = createArguments(small * million);
  const edit = createEditArguments(small * million);
  const rows = [
    ...measureRows(create, [
      ["scanner, content of a file", createScannerContender],
      ["file_edit, live", () => createFileEditContender("write_file")],
    ]),
    ...measureRows(edit, [
      ["scanner, text of an edit", createScannerContender],
      ["file_edit of an edit, live", () => createFileEditContender("edit_file")],
    ]),
  ];
  const parsed = measureWhole(create, (text) => `${Object.keys(JSON.parse(text) as object).length} arguments`);
  printHead("tool arguments", "parse");
  print({ name: "JSON.parse of the complete text", measurement: parsed }, parsed, undefined);
  for (const row of rows) print(row, parsed, undefined);
  return { speed: Math.min(...[rows[0]!, rows[2]!].map(({ measurement }) => toSpeed(measurement))) };
}

/** The same speed for every length, and the same cost of a delta wherever it stands. */
function benchLength(): { readonly growth: number } {
  const sizes = [small, medium, large].flatMap((size) =>
    measureRows(toLength(answers.text, size * million), [["text parser + assembler", createAssemblerContender]]),
  );
  printHead("length", "1 MB");
  for (const row of sizes) print(row, sizes[0]!.measurement, undefined);
  // A longer text has fewer rounds, so on a busy machine its best is worse; the typical delta is not.
  const typical = sizes.map(({ measurement }) => `${toTypicalDelta(measurement).toFixed(0)} ns`);
  console.log(`\na typical delta of ${small}, ${medium} and ${large} MB: ${typical.join(", ")}`);
  const tenths = toTenths(sizes[2]!.measurement);
  console.log(`a delta in each tenth of ${large} MB: ${tenths.map((time) => `${time.toFixed(0)} ns`).join(", ")}`);
  return { growth: (tenths[9] ?? 0) / (tenths[0] ?? 1) };
}

console.log(`${answers.source}; chunks of ${chunkLength} characters; best of several rounds; node ${process.version}`);
// Once over everything, so that the first is not the slowest.
measureInTurns(toLength(answers.text, million / 2), [
  createLineScan,
  createParserContender,
  createSseContender,
  createReducerContender,
]);
const { growth } = benchLength();
const { speed } = benchArguments();
const { share } = benchText();

const goals = [
  { name: "parser and assembler of the line scan", value: share, holds: share >= 0.25, goal: "at least 0.25" },
  { name: "arguments, MB/s", value: speed, holds: speed >= 60, goal: "at least 60" },
  { name: "last delta of the first", value: growth, holds: growth <= 1.3, goal: "at most 1.3" },
];
console.log("");
for (const { name, value, holds, goal } of goals) {
  console.log(`${holds ? "ok    " : "missed"} ${name}: ${value.toFixed(2)} (${goal})`);
}
if (process.argv.includes("--strict") && goals.some(({ holds }) => !holds)) process.exitCode = 1;
