/** Digits in groups of three: `1,254`. */
export function formatNumber(value: number, separator: string): string {
  const digits = String(Math.trunc(value));
  let text = "";
  for (let index = 0; index < digits.length; index += 1) {
    if (index > 0 && (digits.length - index) % 3 === 0) text += separator;
    text += digits.charAt(index);
  }
  return text;
}

/** `a, b and c`. */
export function formatList(entries: readonly string[], comma: string, and: string): string {
  if (entries.length < 2) return entries[0] ?? "";
  return `${entries.slice(0, -1).join(comma)}${and}${entries.at(-1)}`;
}

/** A text as Markdown code, safe with backticks inside. */
export function toCode(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = line.startsWith("`") || line.endsWith("`") || line === "" ? " " : "";
  return fence + pad + line + pad + fence;
}
