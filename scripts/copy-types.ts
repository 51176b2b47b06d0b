/** The types of the library: the declarations that its entry leads to, without the rest of the program's. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

interface Statement {
  readonly text: string;
  /** The words outside comments. */
  readonly words: ReadonlySet<string>;
  /** The names it declares, imports or exports, as this file calls them, and as the other file does. */
  readonly names: ReadonlyMap<string, string>;
  /** The file or package of an import or a re-export. */
  readonly from: string | undefined;
}

/** Copies the reached declarations from the types of a whole package. Maps would lead to sources that aren't published. */
export function copyTypes(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const files = new Map<string, readonly Statement[]>();
  const reached = new Map<string, Set<string>>();
  const statementsOf = (file: string) => {
    if (!files.has(file)) files.set(file, splitStatements(readFileSync(file, "utf8")));
    return files.get(file)!;
  };
  const reach = (file: string, name: string): void => {
    const names = reached.get(file) ?? new Set();
    if (names.has(name)) return;
    reached.set(file, names.add(name));
    for (const statement of statementsOf(file).filter((one) => one.names.has(name))) {
      if (statement.from?.startsWith(".")) reach(toTypes(file, statement.from), statement.names.get(name)!);
      if (statement.from !== undefined) continue;
      for (const word of statement.words) if (isKnown(statementsOf(file), word)) reach(file, word);
      for (const [, path, other] of statement.text.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g))
        reach(toTypes(file, path!), other!);
    }
  };
  const entry = join(from, "index.d.ts");
  for (const { names } of statementsOf(entry)) for (const name of names.keys()) reach(entry, name);
  for (const [file, names] of reached) {
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    const references = readFileSync(file, "utf8").match(/^\/\/\/ <reference.*\n/gm) ?? [];
    const kept = statementsOf(file).flatMap((statement) => formatReached(statement, names));
    writeFileSync(target, [...references, ...kept, "export {};\n"].join(""));
  }
}

function splitStatements(text: string): Statement[] {
  const plain = text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n").replaceAll(/^\/\/\/.*\n/gm, "");
  const starts = /^(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?(?=(?:export|import|declare|interface|type) )/gm;
  const found = [...plain.matchAll(starts)];
  return found.map(({ index }, at) => toStatement(plain.slice(index, found[at + 1]?.index)));
}

function toStatement(text: string): Statement {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").trim();
  const from = /^(?:import|export) [^;=]*? from "([^"]+)"/.exec(code)?.[1];
  const listed = /^(?:import|export) (?:type )?\{([^}]*)\}/.exec(code)?.[1]?.split(",") ?? [];
  const pairs = listed.map((one) =>
    one
      .trim()
      .replace(/^type /, "")
      .split(" as "),
  );
  const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) (\w+)/.exec(code);
  const all = /^import \* as (\w+)/.exec(code);
  const names = from === undefined && declared ? [[declared[1]!]] : all ? [[all[1]!]] : pairs;
  return {
    text,
    words: new Set(code.match(/[A-Za-z_$][\w$]*/g)),
    names: new Map(names.filter(([name]) => name !== "").map((pair) => [pair.at(-1)!, pair[0]!])),
    from,
  };
}

function formatReached({ text, names, from }: Statement, reached: ReadonlySet<string>): string[] {
  const kept = [...names].filter(([name]) => reached.has(name));
  if (kept.length === 0) return [];
  if (from === undefined || kept.length === names.size) return [text];
  const list = kept.map(([name, other]) => (name === other ? name : `${other} as ${name}`)).join(", ");
  return [`import { ${list} } from "${from}";\n`];
}

function isKnown(statements: readonly Statement[], name: string): boolean {
  return statements.some(({ names }) => names.has(name));
}

function toTypes(file: string, path: string): string {
  return join(dirname(file), path.replace(/\.[jt]s$/, ".d.ts"));
}
