/** JSON, package.json, and tables of separated values. */
import { toCounts, toLines, toSection, type Digest, type DigestEntry, type DigestSection } from "./digest.ts";
import { cutText } from "./sentences.ts";

const entryLimit = 24;

/** A digest of JSON; says so when it is none. */
export function createJsonDigest(text: string, baseName: string): Digest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, " ") : String(error);
    const counts = toCounts(["lines", toLines(text).length], ["characters", text.length]);
    return { ...emptyDigest, counts, invalidJson: cutText(reason, 160) };
  }
  if (baseName === "package.json" && isRecord(value)) return createPackageDigest(value, text);
  return createValueDigest(value, text);
}

const emptyDigest = { purpose: [], points: [], outline: [], commands: [], sections: [] } as const;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function createPackageDigest(manifest: Record<string, unknown>, text: string): Digest {
  const name = toText(manifest["name"]);
  const description = toText(manifest["description"]);
  const single = (label: DigestSection["label"], key: string): DigestSection[] => {
    const value = toText(manifest[key]);
    return value === undefined ? [] : toSection(label, [{ text: value, isCode: true }], 1);
  };
  const scripts = toPairs(manifest["scripts"]).map(([key, value]): DigestEntry => ({
    text: key,
    isCode: true,
    note: cutText(value, 120),
  }));
  const programs =
    typeof manifest["bin"] === "string" ? [[name ?? "bin", manifest["bin"]] as const] : toPairs(manifest["bin"]);
  const withVersions = (key: string): DigestEntry[] =>
    toPairs(manifest[key]).map(([entry, version]) => ({ text: `${entry} ${version}`, isCode: true }));
  const workspaces = Array.isArray(manifest["workspaces"])
    ? manifest["workspaces"].filter((entry) => typeof entry === "string")
    : [];
  return {
    ...emptyDigest,
    ...(name !== undefined && { title: name }),
    purpose: description === undefined ? [] : [description],
    sections: [
      ...single("version", "version"),
      ...single("license", "license"),
      ...toSection("engines", withVersions("engines"), entryLimit),
      ...toSection(
        "programs",
        programs.map(([key, value]) => ({ text: key, isCode: true, note: value })),
        entryLimit,
      ),
      ...toSection("scripts", scripts, entryLimit),
      ...toSection(
        "folders",
        workspaces.map((entry) => ({ text: entry, isCode: true as const })),
        entryLimit,
      ),
      ...toSection("dependencies", withVersions("dependencies"), entryLimit),
      ...toSection("dev_dependencies", withVersions("devDependencies"), entryLimit),
    ],
    counts: toCounts(["lines", toLines(text).length], ["characters", text.length]),
  };
}

function createValueDigest(value: unknown, text: string): Digest {
  const isList = Array.isArray(value);
  const entries = isRecord(value)
    ? Object.entries(value).map(([key, entry]): DigestEntry => ({ text: key, isCode: true, note: describe(entry) }))
    : [];
  const items = isList ? value.slice(0, 5).map((entry): DigestEntry => ({ text: describe(entry) })) : [];
  const scalar: DigestEntry[] = isList || isRecord(value) ? [] : [{ text: describe(value) }];
  const title = isRecord(value) ? (toText(value["title"]) ?? toText(value["name"])) : undefined;
  const description = isRecord(value) ? toText(value["description"]) : undefined;
  return {
    ...emptyDigest,
    ...(title !== undefined && { title }),
    purpose: description === undefined ? [] : [cutText(description, 500)],
    sections: toSection("contents", [...entries, ...items, ...scalar], entryLimit).map((section) =>
      isList ? { ...section, more: Math.max(0, value.length - items.length) } : section,
    ),
    counts: toCounts(
      ["lines", toLines(text).length],
      ["characters", text.length],
      ["entries", isList ? value.length : 0],
      ["keys", isRecord(value) ? Object.keys(value).length : 0],
    ),
  };
}

/** The kind and size of a value: `{name, version, …}`, `[12]`, `"text"`. */
function describe(value: unknown): string {
  if (Array.isArray(value))
    return value.length > 0 && value.every(isRecord)
      ? `[${value.length} × ${describe(value[0])}]`
      : `[${value.length}]`;
  if (isRecord(value)) {
    const keys = Object.keys(value);
    return `{${keys
      .slice(0, 6)
      .map((key) => cutText(key, 40))
      .join(", ")}${keys.length > 6 ? ", …" : ""}}`;
  }
  return typeof value === "string" ? JSON.stringify(cutText(value, 80)) : String(value);
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function toPairs(value: unknown): (readonly [string, string])[] {
  return isRecord(value)
    ? Object.entries(value).flatMap(([key, entry]) => (typeof entry === "string" ? [[key, entry] as const] : []))
    : [];
}

/** A digest of CSV or TSV: its columns and first rows. */
export function createTableDigest(lines: readonly string[], characters: number, separator: "," | "\t"): Digest {
  const columns = splitRow(lines[0] ?? "", separator);
  const first = lines.slice(1, 4).map((line): DigestEntry => ({ text: cutText(line, 160), isCode: true }));
  return {
    ...emptyDigest,
    sections: [
      ...toSection(
        "columns",
        columns.map((text) => ({ text: cutText(text, 60), isCode: true as const })),
        entryLimit,
      ),
      ...toSection("first_lines", first, 3),
    ],
    counts: toCounts(["rows", Math.max(0, lines.length - 1)], ["lines", lines.length], ["characters", characters]),
  };
}

function splitRow(line: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (const character of line.slice(0, 4000)) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      cells.push(cell.trim());
      cell = "";
    } else cell += character;
  }
  cells.push(cell.trim());
  return cells.filter((text) => text !== "");
}
