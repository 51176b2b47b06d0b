/** The `ts fragment` blocks of a page as one program, in order. */
export function toProgram(markdown: string): string {
  const blocks = [...markdown.matchAll(/^```ts fragment\n([^]*?)^```$/gm)].map(([, code]) => code ?? "");
  const lines = blocks.join("\n").split("\n");
  const imports = lines.filter((line) => line.startsWith("import "));
  return [...imports, ...lines.filter((line) => !line.startsWith("import "))].join("\n");
}
