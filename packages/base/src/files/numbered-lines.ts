/** Lines with their numbers, as models see files: a number, a tab, the line (N60). */

/** Numbers cost tokens, so only the first line of a text and each line with a multiple of this have theirs. */
const STEP = 5;

/** The empty tail after the last line end has no number. */
export function addLineNumbers(text: string, startLine: number): string {
  if (text === "") return "";
  const lines = text.split("\n");
  const tail = lines.at(-1) === "" ? lines.pop() : undefined;
  const numbered = lines.map((line, index) => {
    const number = startLine + index;
    return index === 0 || number % STEP === 0 ? `${number}\t${line}` : line;
  });
  return [...numbered, ...(tail === undefined ? [] : [tail])].join("\n");
}

/** A number as listings write it, of Sheaf's tools and of others. */
const prefix = /^\s*(\d+)(?:\t|→|[|:-] ?|\s*$)/;

/** The text without its numbers, if they count up, and every line has one or the lines where `addLineNumbers` puts it; else undefined. */
export function removeLineNumbers(text: string): string | undefined {
  const lines = text.split("\n");
  const tail = lines.length > 1 && lines.at(-1) === "" ? lines.pop() : undefined;
  const numbers = lines.map((line) => Number(prefix.exec(line)?.[1]));
  const isEvery = lines.every((_, index) => numbers[index] === numbers[0]! + index);
  const at = lines.findIndex((line) => /^\d+\t/.test(line));
  const first = at < 0 ? Number.NaN : numbers[at]! - at;
  const hasNumber = (index: number): boolean => isEvery || (index === 0 && at === 0) || (first + index) % STEP === 0;
  const isSome = lines.every((line, index) =>
    hasNumber(index) ? line.startsWith(`${first + index}\t`) : !/^\d+\t/.test(line),
  );
  if (!isEvery && !isSome) return undefined;
  const bare = lines.map((line, index) => (hasNumber(index) ? line.replace(prefix, "") : line));
  return [...bare, ...(tail === undefined ? [] : [tail])].join("\n");
}
