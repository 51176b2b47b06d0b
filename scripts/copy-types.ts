/** The types of the library: those that its entry leads to, without the rest of the program's. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** From the types of a whole package to those that its `index.d.ts` reaches. Maps would lead to sources that are not published. */
export function copyTypes(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const waiting = [join(from, "index.d.ts")];
  const copied = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (copied.has(file)) continue;
    copied.add(file);
    const text = readFileSync(file, "utf8");
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n"));
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g))
      waiting.push(join(dirname(file), `${path}.d.ts`));
  }
}
