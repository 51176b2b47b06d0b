/** Rules in the format of Cursor: `.mdc` files, whose head says when they apply. */

/** The head, between lines of three dashes. */
const head = /^---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/**
 * What a rule tells every model: its text if it always applies, otherwise when to read it. Undefined for a rule that
 * applies only where a person names it.
 */
export function toCursorInstructions(text: string): string | undefined {
  const match = head.exec(text);
  if (!match) return text;
  const body = text.slice(match[0].length);
  const fields = readFields(match[1]!);
  if (fields.get("alwaysApply") === "true") return body;
  const [globs = "", description = ""] = [fields.get("globs"), fields.get("description")];
  const about = description === "" ? "" : `${description}\n`;
  if (globs !== "") return `${about}Read this file before you change files that match ${globs}.`;
  return description === "" ? undefined : `${about}Read this file when the task is about that.`;
}

/** `name: value` lines; a list below a name is joined. Not YAML: globs are written without quotes, which YAML forbids. */
function readFields(lines: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let name = "";
  for (const line of lines.split(/\r?\n/)) {
    const field = /^(\w+):(.*)$/.exec(line);
    const entry = /^\s*-(.*)$/.exec(line);
    if (field) name = field[1]!;
    const value = (field?.[2] ?? entry?.[1] ?? "").trim().replace(/^(["'])(.*)\1$/, "$2");
    const before = entry ? fields.get(name) : undefined;
    if (field || entry) fields.set(name, before ? `${before}, ${value}` : value);
  }
  return fields;
}
