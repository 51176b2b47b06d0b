/**
 * The TypeScript of the READMEs and guides. A `ts` block is a whole program: it is type-checked and run, and what it
 * prints is the `text` block that comes next, if one comes before other code. `ts check` is only type-checked, since it needs
 * something that a test has not; `ts fragment` is neither.
 */
import { execFile, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseText } from "@sheaf/documents";
import { afterAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "sheaf-readme-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Example {
  /** Where it is, for instance `README.md, line 12`. */
  readonly place: string;
  readonly source: string;
  readonly kind: "run" | "check" | "fragment";
  /** What it has to print; undefined if the page does not say. */
  readonly output: string | undefined;
}

const kinds: Readonly<Record<string, Example["kind"]>> = {
  ts: "run",
  "ts check": "check",
  "ts fragment": "fragment",
};

function readExamples(path: string): Example[] {
  const page = readFileSync(join(root, path), "utf8");
  const segments = parseText(page);
  let searched = 0;
  return segments.flatMap((segment, at) => {
    if (segment.type !== "code_block") return [];
    searched = page.indexOf(segment.content, searched);
    const place = `${path}, line ${page.slice(0, searched).split("\n").length}`;
    const info = segment.info ?? segment.language;
    const kind = kinds[info];
    if (kind === undefined) {
      if (segment.language === "ts") throw new Error(`${place}: "${info}" is none of ${Object.keys(kinds).join(", ")}`);
      return [];
    }
    const next = segments.slice(at + 1).find(({ type }) => type === "code_block");
    const output = next?.type === "code_block" && next.language === "text" ? next.content : undefined;
    return [{ place, source: segment.content, kind, output }];
  });
}

const pages = globSync(["README.md", "packages/*/README.md", "docs/**/*.md"], { cwd: root }).toSorted();
const examples = pages.flatMap(readExamples);

function toFile(example: Example): string {
  return join(folder, `example-${examples.indexOf(example)}.ts`);
}

/** The examples see the packages as a project does that has installed them. */
function writeExamples(): void {
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // As strict as most projects are.
  const checks = { exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: false };
  const output = { noEmit: true, composite: false, declaration: false, declarationMap: false };
  const tsconfig = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: { ...output, ...checks, types: ["node"] },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  for (const example of examples) {
    if (example.kind !== "fragment") writeFileSync(toFile(example), `${example.source}\nexport {};\n`);
  }
}
writeExamples();

test("there are examples", () => {
  expect(examples.filter(({ kind }) => kind === "run").length).toBeGreaterThan(5);
});

test("their types are right", () => {
  const { stdout, status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"], {
    encoding: "utf8",
  });
  const named = examples.reduce((text, example, at) => text.replaceAll(`example-${at}.ts`, example.place), stdout);
  expect([status, named]).toEqual([0, ""]);
}, 60_000);

describe("they run, and print what their page says", () => {
  test.concurrent.each(examples.filter(({ kind }) => kind === "run"))("$place", async (example) => {
    const run = promisify(execFile)(process.execPath, ["--conditions=sheaf-source", toFile(example)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, SHEAF_HOME: folder },
    });
    const { stdout, stderr } = await run;
    expect(stderr).toBe("");
    if (example.output !== undefined) expect(stdout.trimEnd()).toBe(example.output);
  });
});
