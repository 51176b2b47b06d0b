/** Rules in the format of Cursor: `.mdc` files, whose head says when they apply. */
import { parseFrontMatter } from "../../config/front-matter.ts";

/**
 * What a rule tells every model: its text if it always applies, otherwise when to read it. Undefined for a rule that
 * applies only where a person names it.
 */
export function toCursorInstructions(text: string): string | undefined {
  const parsed = parseFrontMatter(text);
  if (!parsed) return text;
  const { fields, body } = parsed;
  if (fields.get("alwaysApply") === "true") return body;
  const [globs = "", description = ""] = [fields.get("globs"), fields.get("description")];
  const about = description === "" ? "" : `${description}\n`;
  if (globs !== "") return `${about}Read this file before you change files that match ${globs}.`;
  return description === "" ? undefined : `${about}Read this file when the task is about that.`;
}
