/** The head of a Markdown file, between lines of three dashes: what the file is, for programs. */

/** A text and what its head says. */
export interface FrontMatter {
  /** By name; "" for one without a value. */
  readonly fields: ReadonlyMap<string, string>;
  /** The text without its head. */
  readonly body: string;
}

const head = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Undefined for a text without a head. */
export function parseFrontMatter(text: string): FrontMatter | undefined {
  const match = head.exec(text);
  return match ? { fields: readFields(match[1]!), body: text.slice(match[0].length) } : undefined;
}

/**
 * `name: value` lines at the margin; lines below a name are joined, those of a list by commas. Not YAML: rules of Cursor
 * write globs without quotes, which YAML forbids.
 */
function readFields(lines: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let name = "";
  for (const line of lines.split(/\r?\n/)) {
    const field = /^([\w-]+):(.*)$/.exec(line);
    if (field) {
      name = field[1]!;
      // The sign of a text that begins on the next line.
      fields.set(name, withoutQuotes(field[2]!).replace(/^[>|][+-]?\d?$/, ""));
      continue;
    }
    const entry = /^\s*-\s(.*)$/.exec(line);
    const value = withoutQuotes(entry ? entry[1]! : line);
    const before = fields.get(name);
    if (before === undefined || value === "" || (!entry && !/^\s/.test(line))) continue;
    fields.set(name, before === "" ? value : `${before}${entry ? ", " : " "}${value}`);
  }
  return fields;
}

function withoutQuotes(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, "$2");
}
