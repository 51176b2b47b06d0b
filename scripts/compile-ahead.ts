/** Functions that are compiled with their module, so that the compile cache holds them and no start compiles them again. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseSync, type ESTree } from "vite";
import type { CalledFunctions } from "./sample-run.ts";

/** What esbuild tells of the bundles that it wrote, by file. */
type Outputs = Readonly<
  Record<string, { readonly imports: readonly { readonly path: string; readonly kind: string }[] }>
>;

/**
 * Rewrites bundles in their place: of those that typical runs load, the functions that these call; of all others, the
 * functions of the top level. @throws if two import each other, see `toEagerFunctions`.
 */
export function compileAhead(outputs: Outputs, called: CalledFunctions): void {
  const circle = findCircle(outputs);
  if (circle) throw new Error(`bundles import each other in a circle: ${circle.join(", ")}`);
  for (const file of Object.keys(outputs)) {
    writeFileSync(file, toEagerFunctions(readFileSync(file, "utf8"), called.get(resolve(file))));
  }
}

/** Bundles each of which imports the next, and the last the first, before it runs; undefined: there are none. */
export function findCircle(outputs: Outputs): readonly string[] | undefined {
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(file)) return way.slice(way.indexOf(file));
    if (done.has(file)) return undefined;
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      const circle = kind === "import-statement" ? visit(path, [...way, file]) : undefined;
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of Object.keys(outputs)) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

/**
 * The same module, with functions as expressions in parentheses. V8 takes those for functions that are called at once and
 * compiles them with the module; all others it compiles at their first call, in each process again, for Node caches a
 * module as it is before it runs. `called`: which functions, as `start:end`; default: all of the top level.
 * Methods of classes stay as they are, and so do async arrow functions, which V8 does not take for such.
 */
export function toEagerFunctions(text: string, called?: ReadonlySet<string>): string {
  const { body } = parseModule(text);
  const names = body.flatMap((statement) => {
    const isWanted = statement.type === "FunctionDeclaration" && (!called || isIn(called, statement));
    return isWanted && statement.id ? [statement.id.name] : [];
  });
  return hoistFunctions(called ? applyEdits(text, listInnerEdits(text, body, called)) : text, new Set(names));
}

function parseModule(text: string): ESTree.Program {
  const { program, errors } = parseSync("bundle.js", text, { sourceType: "module" });
  if (errors[0]) throw new Error(errors[0].message);
  return program;
}

const isIn = (called: ReadonlySet<string>, { start, end }: { readonly start: number; readonly end: number }): boolean =>
  called.has(`${start}:${end}`);

/**
 * Functions of the top level stand in front, since declarations are there from the start, and lose their names, which V8
 * takes from the variables: some functions put another one in their place.
 * Bundles must not import each other in a circle: a function would be called before it is there.
 */
function hoistFunctions(text: string, names: ReadonlySet<string>): string {
  const functions: string[] = [];
  let rest = "";
  let end = 0;
  for (const statement of parseModule(text).body) {
    if (statement.type !== "FunctionDeclaration" || !statement.id || !names.has(statement.id.name)) continue;
    const { id } = statement;
    functions.push(`${id.name}=(${text.slice(statement.start, id.start)}${text.slice(id.end, statement.end)})`);
    rest += `${text.slice(end, statement.start)};`;
    end = statement.end;
  }
  if (functions.length === 0) return text;
  return `var ${functions.join(",\n")};\n${rest}${text.slice(end)}`;
}

/** Puts `text` in the place of what stands from `start` to `end`. */
interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits that touch nowhere, but for those that only put something in. */
function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(text.slice(end, edit.start), edit.text);
    end = edit.end;
  }
  return parts.join("") + text.slice(end);
}

/** Parentheses around functions that stand inside of something; methods of objects become fields with functions. */
function listInnerEdits(text: string, node: unknown, called: ReadonlySet<string>): TextEdit[] {
  if (Array.isArray(node)) return node.flatMap((item) => listInnerEdits(text, item, called));
  if (!isNode(node)) return [];
  const isMethod =
    node.type === "MethodDefinition" || (node.type === "Property" && (node.method || node.kind !== "init"));
  // The function of a method has no text of its own.
  const parts = isMethod ? [node.key, ...Object.values(node.value ?? {})] : Object.values(node);
  const inner = parts.flatMap((part: unknown) => listInnerEdits(text, part, called));
  return isIn(called, node) ? [...inner, ...toParentheses(text, node)] : inner;
}

function isNode(value: unknown): value is ESTree.Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function toParentheses(text: string, node: ESTree.Node): TextEdit[] {
  const close = { start: node.end, end: node.end, text: ")" };
  if (node.type === "FunctionExpression" || (node.type === "ArrowFunctionExpression" && !node.async)) {
    return [{ start: node.start, end: node.start, text: "(" }, close];
  }
  if (node.type !== "Property" || !node.method || node.computed || node.value.type !== "FunctionExpression") return [];
  const { start, end, key, value } = node;
  const name = text.slice(key.start, key.end);
  // A function that is no method knows no `super`, and a field `__proto__` is none.
  if (name.includes("__proto__") || /\bsuper\b/.test(text.slice(start, end))) return [];
  const head = `${value.async ? "async " : ""}function${value.generator ? "*" : ""}`;
  return [{ start, end: value.start, text: `${name}:(${head}` }, close];
}
