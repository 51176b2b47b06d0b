/**
 * The head of a Markdown file, between lines of three dashes: its data for programs. It is not YAML, which refuses
 * `argument-hint: [a] [b]`, globs without quotes and colons in descriptions, as people write them.
 */

/** A text and its head. */
export interface FrontMatter {
  /** Values by name; "" for a field without a value. */
  readonly fields: ReadonlyMap<string, string>;
  /** The text without its head. */
  readonly body: string;
}

const head = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

interface Field {
  /** The text after the colon. */
  readonly first: string;
  readonly rest: string[];
}

/** Undefined for a text without a head. Fields start at the margin; nested ones are part of the outer field's value. */
export function parseFrontMatter(text: string): FrontMatter | undefined {
  const match = head.exec(text);
  if (!match) return undefined;
  const fields = new Map<string, string>();
  let open: [string, Field] | undefined;
  const close = (): void => void (open && fields.set(open[0], toValue(open[1])));
  for (const line of match[1]!.split(/\r?\n/)) {
    const [, name, first = ""] = /^(\w[\w-]*):(.*)$/s.exec(line) ?? [];
    if (name !== undefined) {
      close();
      open = [name, { first: first.trim(), rest: [] }];
    } else if (!line.startsWith("#")) open?.[1].rest.push(line.trim());
  }
  close();
  return { fields, body: text.slice(match[0].length) };
}

/** Lines of one text are joined by a blank, entries of a list by a comma. */
function toValue({ first, rest }: Field): string {
  const lines = rest.filter((line) => line !== "");
  if (first === "" && lines.every((line) => line.startsWith("-"))) {
    return lines.map((entry) => withoutQuotes(entry.slice(1).trim())).join(", ");
  }
  // The text after an empty value, or after one of these signs, is on the next lines.
  const begins = first === "" || /^[>|][+-]?\d?$/.test(first);
  return withoutQuotes([...(begins ? [] : [first]), ...lines].join(" "));
}

function withoutQuotes(text: string): string {
  const [, quote, inner = ""] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quote === undefined) return text;
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replaceAll(/\\(["\\])/g, "$1");
}
