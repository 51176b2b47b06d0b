/** Lines with their numbers, as models see files: a number, a tab, the line (N60). */

/** Numbers cost tokens, so only a text's first line and each line with a multiple of this have one. */
const STEP = 5;

/** Adds numbers to the lines, but not to the empty tail after the last line end. */
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

/** Matches a number in listings, even of other programs. */
const prefix = /^\s*(\d+)(?:\t|→|[|:-] ?|\s*$)/;

/** Removes the numbers. Undefined unless they count up, on every line or where `addLineNumbers` puts them. */
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
