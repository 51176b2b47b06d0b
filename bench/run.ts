/**
 * `npm run bench -- NAME|all [--quick] [--strict] [--update]`: runs `bench/NAME.ts` and prints its figures.
 * `--quick` takes fewer rounds. `--strict` exits with 1 when a figure is more than 25 % worse than its row in
 * docs/performance.md. `--update` rewrites the rows.
 * `npm run bench -- cluster --nodes N [--streams 500]`: what a delta costs a cluster of this size (docs/scale.md).
 * `npm run bench -- failure-matrix --peers FOLDER`: what callers of Sheaf and of other agents see when something fails
 * (docs/failure-matrix.md).
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { findRegressions, parseLimits, replaceLimits, toMultiple, toRow } from "./support/limits.ts";
import type { Bench, Figure } from "./support/measure.ts";

const document = join(import.meta.dirname, "../docs/performance.md");
const names = globSync("*.ts", { cwd: import.meta.dirname })
  .map((path) => basename(path, ".ts"))
  .filter((name) => name !== "run")
  .toSorted();
const [name = "", ...flags] = process.argv.slice(2);
const size = /^cluster --nodes (\d+)(?: --streams (\d+))?$/.exec([name, ...flags].join(" "));
const unknown = flags.filter((flag) => !["--quick", "--strict", "--update"].includes(flag));

if (name === "failure-matrix") await runMatrix();
else if (size) await runSize(Number(size[1]), Number(size[2] ?? 500));
else if (unknown.length > 0) refuse(`unknown argument ${unknown.join(" ")}: use --quick, --strict or --update`);
else if (name === "all") runAll();
else if (names.includes(name)) await runOne(name);
else refuse(`no benchmark "${name}": name one of ${names.join(", ")}, failure-matrix, or all`);

function refuse(message: string): void {
  process.stderr.write(`bench: ${message}\n`);
  process.exitCode = 2;
}

async function runSize(nodes: number, streams: number): Promise<void> {
  const { measureSize } = await import("./cluster.ts");
  for (const [figure, value] of Object.entries(await measureSize({ nodes, streams }))) {
    console.log(`${figure.padEnd(46)} ${value.toFixed(0).padStart(10)}`);
  }
}

async function runMatrix(): Promise<void> {
  const { measureMatrix } = await import("./failure-matrix/measure-matrix.ts");
  await measureMatrix(flags).catch((error: unknown) => refuse((error as Error).message));
}

/** A process for each, so that none finds code compiled or memory taken by another. */
function runAll(): void {
  for (const each of names) {
    const words = [...process.execArgv, import.meta.filename, each, ...flags];
    const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
    if (status !== 0) process.exitCode = status ?? 1;
  }
}

async function runOne(own: string): Promise<void> {
  const { bench } = (await import(pathToFileURL(join(import.meta.dirname, `${own}.ts`)).href)) as {
    readonly bench: Bench;
  };
  let figures = await bench(flags.includes("--quick"));
  print(own, figures);
  if (flags.includes("--update")) {
    writeFileSync(document, replaceLimits(readFileSync(document, "utf8"), own, figures));
  }
  if (!flags.includes("--strict")) return;
  const limits = parseLimits(readFileSync(document, "utf8"));
  if (findRegressions(limits, own, figures).length > 0) {
    console.log("over a limit: measuring once more, since other work on the machine may be the reason");
    const again = await bench(flags.includes("--quick"));
    print(own, again);
    figures = figures.map((figure, index) => takeBetter(figure, again[index]));
  }
  const regressions = findRegressions(limits, own, figures);
  for (const regression of regressions) process.stderr.write(`${regression}\n`);
  if (regressions.length > 0) process.exitCode = 1;
}

function takeBetter(one: Figure, other: Figure | undefined): Figure {
  return other && toMultiple(other) < toMultiple(one) ? other : one;
}

function print(own: string, figures: readonly Figure[]): void {
  console.log(`\n${own.padEnd(46)} ${"floor".padStart(10)} ${"Sheaf".padStart(10)} multiple`);
  for (const figure of figures) {
    const [title = "", floor = "", sheaf = "", multiple = ""] = toRow(figure);
    console.log(`${title.padEnd(46)} ${floor.padStart(10)} ${sheaf.padStart(10)} ${multiple.padStart(8)}`);
  }
}
