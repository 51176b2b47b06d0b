/** Lines with their numbers, as models see files: the number, a tab, the line (N60). */

/** The empty tail after the last line end has no number. */
export function addLineNumbers(text: string, startLine: number): string {
  if (text === "") return "";
  const lines = text.split("\n");
  const tail = lines.at(-1) === "" ? lines.pop() : undefined;
  const numbered = lines.map((line, index) => `${startLine + index}\t${line}`);
  return [...numbered, ...(tail === undefined ? [] : [tail])].join("\n");
}

/** A number as listings write it, of Sheaf's tools and of others. */
const prefix = /^\s*(\d+)(?:\t|→|[|:-] ?|\s*$)/;

/** The text without numbers, if every line has one and they count up by one; else undefined. */
export function removeLineNumbers(text: string): string | undefined {
  const lines = text.split("\n");
  const tail = lines.length > 1 && lines.at(-1) === "" ? lines.pop() : undefined;
  const first = Number(prefix.exec(lines[0]!)?.[1]);
  const isNumbered = lines.every((line, index) => Number(prefix.exec(line)?.[1]) === first + index);
  if (!isNumbered) return undefined;
  return [...lines.map((line) => line.replace(prefix, "")), ...(tail === undefined ? [] : [tail])].join("\n");
}
