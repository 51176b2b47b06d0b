/** The parts of docs that are made from code and from the tests. `npm run list-covered` writes them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorTable, type ErrorCode } from "../../packages/base/src/errors.ts";
import { commandDefinitions, commandNames } from "../../packages/cli/src/command-definitions.ts";
import * as flagSets from "../../packages/cli/src/flag-sets.ts";
import { parseFlags } from "../../packages/cli/src/flags.ts";
import { describeTool, listToolNames } from "../../packages/agent/src/tools/registry.ts";
import { toDocumentType } from "../../packages/documents/src/tool-names.ts";
import { formatAnnotatedRun, formatCancelledRun } from "./annotated-run.ts";
import type { Requirements } from "./check-contracts.ts";
import { type Clause, toAnchor } from "./contract.ts";
import { formatTable, referenceTables } from "./reference-tables.ts";

const root = join(import.meta.dirname, "../..");

const blocks: Readonly<Record<string, () => string>> = {
  "error-codes": formatErrorCodes,
  "log-events": formatLogEvents,
  commands: formatCommands,
  tools: formatTools,
  "annotated-run": formatAnnotatedRun,
  "cancelled-run": formatCancelledRun,
  ...referenceTables,
};

/** The pages with blocks. */
const pages = ["formats/cli", "reference/exit-codes", "reference/flags", "reference/limits", "reference/routes"];

/** INDEX.md, and the pages with blocks, as they should be. */
export function formatContractFiles(contracts: {
  readonly clauses: readonly Clause[];
  readonly requirements: Requirements;
  readonly cited: ReadonlyMap<string, readonly string[]>;
  readonly always: ReadonlySet<string>;
}): { readonly path: string; readonly text: string }[] {
  return [{ path: "docs/formats/INDEX.md", text: formatIndex(contracts) }, ...pages.map(fillPage)];
}

function fillPage(name: string): { readonly path: string; readonly text: string } {
  const path = `docs/${name}.md`;
  const text = readFileSync(join(root, path), "utf8").replaceAll(
    /^( *)(<!-- from code: ([\w-]+) -->\n)[^]*?(?=^ *<!-- end -->)/gm,
    (_, indent: string, mark: string, block: string) =>
      `${indent}${mark}${blocks[block]!().replaceAll(/^/gm, indent)}\n`,
  );
  return { path, text };
}

function formatIndex({ clauses, requirements, cited, always }: Parameters<typeof formatContractFiles>[0]): string {
  const titles = new Map(Object.values(requirements).flatMap((list) => Object.entries(list)));
  const rows = clauses.map(({ id, document, section }) => {
    const tests = [...new Set(cited.get(id) ?? [])].toSorted();
    const depth = always.has(id) ? "always" : tests.length > 0 ? "nightly" : "never";
    const names = tests.map((path) => path.replace(/^packages\/(\w+)\/test/, "$1").replace(/\.test\.ts$/, ""));
    return [
      id,
      titles.get(id)?.[0] ?? "",
      `[${document}](${document}.md#${toAnchor(section)})`,
      names.join(", "),
      depth,
    ];
  });
  return `# Clauses of the contracts

\`npm run list-covered\` writes this list from the contracts and the titles of the tests. Tests of \`packages/NAME/test\` are listed as \`NAME/…\`.
The column *depth* shows when its tests run: some for each change (*always*), all by \`npm run test:deep\` each night (*nightly*), or *never*.

${formatTable(["clause", "title", "place", "proved by", "depth"], rows)}
`;
}

/** By exit code. Codes without a line are those of the row above. */
const meanings: Readonly<Record<number, string>> = {
  1: "internal error",
  2: "usage or configuration",
  3: "credentials are missing or rejected",
  4: "a refusal of the provider that doesn't change",
  5: "the provider isn't available for now",
  6: "the answer can't be used",
  7: "a budget is used up",
  8: "a permission, the sandbox or another part of the setup is missing: `--on-denied stop`, `--strict` (C180), S-31",
  9: "storage",
  10: "the agent has questions, which the output holds (C25)",
  11: "the answer did not pass (C168), or a `Stop` hook still objects (C89)",
  130: "SIGHUP (129), SIGINT (130), SIGQUIT (131) or SIGTERM (143)",
};

function formatErrorCodes(): string {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const list = (exitCode: number, retryable: boolean): string =>
    codes
      .filter((code) => errorTable[code].exitCode === exitCode && errorTable[code].retryable === retryable)
      .map((code) => `\`${code}\` ${errorTable[code].httpStatus}`)
      .join(", ");
  const rows = [...new Set(codes.map((code) => errorTable[code].exitCode))].map((exitCode) => {
    const meaning = meanings[exitCode];
    if (meaning === undefined) throw new Error(`exit code ${exitCode} has no meaning in contract-files.ts`);
    return [`${exitCode}`, meaning, list(exitCode, false), list(exitCode, true)];
  });
  const success = ["0", "success: a `result` line and a final message", "", ""];
  return formatTable(["code", "meaning", "`errorCode`, HTTP status", "the same, `retryable`"], [success, ...rows]);
}

function formatLogEvents(): string {
  const source = readFileSync(join(root, "packages/protocol/src/run-events.ts"), "utf8");
  const events = source.matchAll(
    /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\nexport interface \w+ (?:extends [^{]*)?\{\n  readonly type: "(\w+)";/g,
  );
  const rows = [...events].map(([, comment, type]) => {
    const [sentence = ""] = comment!
      .replaceAll(/\s*\n \* ?/g, " ")
      .trim()
      .split(/(?<=\.) /);
    return [`\`${type}\``, sentence.replace(/ ?\([CNRXS\d, -]+\)/g, "")];
  });
  return formatTable(["event", "meaning"], rows);
}

/** A tool with tools of its servers in it has no description, and no row. */
function formatTools(): string {
  const rows = listToolNames().flatMap((name) => {
    const tool = describeTool(name);
    if (tool === undefined) return [];
    const [key = "function"] = Object.keys(tool.toCursor?.({}, "") ?? {});
    const names = [tool.claude?.name, tool.claude?.also].filter((one) => one !== undefined);
    return [
      [
        `\`${name}\``,
        tool.access,
        `\`${toDocumentType(name)}\``,
        `\`${key}\``,
        names.map((one) => `\`${one}\``).join(", "),
      ],
    ];
  });
  return formatTable(["tool", "access", "document", "key of `tool_call`", "in Claude Code"], rows);
}

type Flags = Readonly<Record<string, string>>;

/** The flags that commands share, the larger lists first. */
const sets: readonly (readonly [name: string, flags: Flags])[] = [
  ["flags of runs", flagSets.runFlags],
  ["settings", flagSets.settingFlags],
  ["flags of requests", flagSets.requestFlags],
  ["limits", flagSets.limitFlags],
  ["flags of output", flagSets.outputFlags],
];

function formatCommands(): string {
  const rows = [
    ...sets.toReversed().map(([name, list]) => [`*${name}*`, formatFlags(list, name)]),
    ...(["prompt", ...commandNames] as const).map((name) => {
      const { usage = "", flags = {} } = commandDefinitions[name];
      const words = name === "prompt" ? usage : `${name} ${usage}`.trim();
      return [`\`${escapeBars(words)}\``, formatFlags(flags)];
    }),
  ];
  return formatTable(["command", "flags"], rows);
}

/** The names of the sets, except of the one that is described, and then the other flags. */
function formatFlags(flags: Flags, described?: string): string {
  let rest = Object.entries(flags);
  const names: string[] = [];
  for (const [name, members] of sets) {
    const isWhole = Object.keys(members).every((member) => rest.some(([syntax]) => syntax === member));
    if (name === described || !isWhole) continue;
    rest = rest.filter(([syntax]) => !Object.hasOwn(members, syntax));
    names.push(`*${name}*`);
  }
  const others = parseFlags(Object.fromEntries(rest)).map(({ usage }) => `\`${escapeBars(usage)}\``);
  return [...names, ...others].join(", ");
}

function escapeBars(text: string): string {
  return text.replaceAll("|", "\\|");
}
