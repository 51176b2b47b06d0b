/** Compares names as lenient file systems do (S-20). */

/** Characters that some file systems ignore when they compare names. */
const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/** Returns a name in the form that the most lenient file system would compare. */
export function toComparable(name: string): string {
  const [stem = ""] = toFolded(name).split(":", 1);
  return trimTail(stem.trimStart());
}

/** Returns a path with `/` in this form, name by name. */
export function toComparablePath(path: string): string {
  return path.split("/").map(toComparable).join("/");
}

/** Removes differences of case, and ignorable characters. */
export function toFolded(text: string): string {
  // Most names are ASCII: normalizing would not change them, and takes ten times as long.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").replaceAll(ignorable, "").toLowerCase();
}

/** Removes dots and blanks at the end. */
function trimTail(name: string): string {
  let end = name.length;
  while (end > 0 && /[.\s]/.test(name[end - 1]!)) end -= 1;
  return name.slice(0, end);
}
