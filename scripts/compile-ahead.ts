/** Functions that are compiled with their module, so that the compile cache holds them and no start compiles them again. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseSync, type ESTree } from "vite";

/** Rewrites bundles in their place. */
export function compileAhead(files: readonly string[]): void {
  for (const file of files) writeFileSync(file, toEagerFunctions(readFileSync(file, "utf8")));
}

/**
 * The same module, with the functions of its top level as expressions in parentheses. V8 takes those for functions that
 * are called at once and compiles them with the module; all others it compiles at their first call, in each process
 * again, for Node caches a module as it is before it runs. They stand in front, since declarations are there from the
 * start, and lose their names, which V8 takes from the variables: some functions put another one in their place.
 * Bundles must not import each other in a circle.
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
