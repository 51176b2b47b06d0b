/** Functions that are compiled with their module, so that the compile cache holds them and no start compiles them again. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseSync, type ESTree } from "vite";

/** What esbuild tells of the bundles that it wrote, by file. */
type Outputs = Readonly<
  Record<string, { readonly imports: readonly { readonly path: string; readonly kind: string }[] }>
>;

/** Rewrites bundles in their place. @throws if two import each other, see `toEagerFunctions`. */
export function compileAhead(outputs: Outputs): void {
  const circle = findCircle(outputs);
  if (circle) throw new Error(`bundles import each other in a circle: ${circle.join(", ")}`);
  for (const file of Object.keys(outputs)) writeFileSync(file, toEagerFunctions(readFileSync(file, "utf8")));
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
 * The same module, with the functions of its top level as expressions in parentheses. V8 takes those for functions that
 * are called at once and compiles them with the module; all others it compiles at their first call, in each process
 * again, for Node caches a module as it is before it runs. They stand in front, since declarations are there from the
 * start, and lose their names, which V8 takes from the variables: some functions put another one in their place.
 * Bundles must not import each other in a circle: a function would be called before it is there.
 */
export function toEagerFunctions(text: string): string {
  const { program, errors } = parseSync("bundle.js", text, { sourceType: "module" });
  if (errors[0]) throw new Error(errors[0].message);
  const functions: string[] = [];
  let rest = "";
  let end = 0;
  for (const statement of program.body) {
    if (statement.type !== "FunctionDeclaration") continue;
    functions.push(toExpression(text, statement));
    rest += `${text.slice(end, statement.start)};`;
    end = statement.end;
  }
  if (functions.length === 0) return text;
  return `var ${functions.join(",\n")};\n${rest}${text.slice(end)}`;
}

function toExpression(text: string, { start, end, id }: ESTree.Function): string {
  if (!id) throw new Error("a function of the top level has no name");
  return `${id.name}=(${text.slice(start, id.start)}${text.slice(id.end, end)})`;
}
