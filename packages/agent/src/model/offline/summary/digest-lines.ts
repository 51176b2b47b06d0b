/** Texts made of records: diffs and logs. */
import { toOpenEnd } from "./digest-code.ts";
import { toCounts, toSection, type Digest, type DigestEntry } from "./digest.ts";
import { cutText } from "./sentences.ts";

const entryLimit = 30;
const emptyDigest = { purpose: [], points: [], outline: [], commands: [] } as const;

/** Whether the lines are a unified diff. */
export function isDiff(lines: readonly string[]): boolean {
  const head = lines.slice(0, 60);
  return (
    head.some((line) => line.startsWith("diff --git ") || line.startsWith("@@ -")) &&
    head.some((line) => /^(?:\+\+\+|---|index) /.test(line))
  );
}

interface FileChange {
  readonly path: string;
  added: number;
  removed: number;
}

/** A digest of a diff: files, lines added and removed, and what the added lines leave open. */
export function createDiffDigest(lines: readonly string[], characters: number): Digest {
  const files: FileChange[] = [];
  const findings: DigestEntry[] = [];
  let file: FileChange | undefined;
  let number = 0;
  for (const line of lines) {
    if (line.startsWith("+++ ") || line.startsWith("diff --git ")) {
      const path = toDiffPath(line);
      if (path !== undefined && file?.path !== path) files.push((file = { path, added: 0, removed: 0 }));
    } else if (line.startsWith("@@ ")) {
      number = Number(/\+(\d{1,9})/.exec(line)?.[1] ?? 1) - 1;
    } else if (line.startsWith("+")) {
      number += 1;
      if (file) file.added += 1;
      const finding = toOpenEnd(line.slice(1));
      if (finding !== undefined)
        findings.push({ text: cutText(finding, 120), isCode: true, note: file?.path ?? "", line: number });
    } else if (line.startsWith("-") && !line.startsWith("--- ")) {
      if (file) file.removed += 1;
    } else if (line.startsWith(" ")) {
      number += 1;
    }
  }
  const sum = (key: "added" | "removed"): number => files.reduce((total, entry) => total + entry[key], 0);
  return {
    ...emptyDigest,
    sections: [
      ...toSection(
        "changed_files",
        files.map((entry) => ({ text: entry.path, isCode: true as const, note: `+${entry.added} −${entry.removed}` })),
        entryLimit,
      ),
      ...toSection("findings", findings, entryLimit),
    ],
    counts: toCounts(
      ["files", files.length],
      ["added", sum("added")],
      ["removed", sum("removed")],
      ["lines", lines.length],
      ["characters", characters],
    ),
  };
}

function toDiffPath(line: string): string | undefined {
  if (line.startsWith("diff --git ")) {
    const at = line.lastIndexOf(" b/");
    return at === -1 ? undefined : line.slice(at + 3);
  }
  const path = line.slice(4).split("\t")[0]?.trim() ?? "";
  return path === "/dev/null" || path === "" ? undefined : path.replace(/^b\//, "");
}

const time =
  /^\W{0,2}(?:\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?|\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2}|[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}|\d{2}:\d{2}:\d{2})/;
const errorLevel = /(?:^|[\s[|:"])(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|Error|error|fatal|FAIL(?:ED)?)(?:[\s\]|:"(]|$)/;
const warningLevel = /(?:^|[\s[|:"])(?:WARN(?:ING)?|Warning|warning|warn)(?:[\s\]|:"(]|$)/;
const anyLevel = /(?:^|[\s[|])(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|NOTICE)(?:[\s\]|:]|$)/;

/** Whether most of the first lines begin with a time or carry a level. */
export function isLog(lines: readonly string[]): boolean {
  const head = lines.slice(0, 200).filter((line) => line.trim() !== "");
  const records = head.filter((line) => time.test(line) || anyLevel.test(line.slice(0, 200))).length;
  return head.length >= 5 && records >= head.length * 0.5;
}

/** A digest of a log: its period, and its errors and warnings by how often they come. */
export function createLogDigest(lines: readonly string[], characters: number): Digest {
  const groups = new Map<string, { text: string; line: number; count: number; isError: boolean }>();
  let errors = 0;
  let warnings = 0;
  let first: string | undefined;
  let last: string | undefined;
  lines.forEach((line, index) => {
    const head = line.slice(0, 300);
    const stamp = time.exec(head)?.[0];
    if (stamp !== undefined) {
      first ??= stamp;
      last = stamp;
    }
    const isError = errorLevel.test(head);
    if (!isError && !warningLevel.test(head)) return;
    if (isError) errors += 1;
    else warnings += 1;
    // The same message with other numbers is the same group.
    const message = head.replace(time, "").trim();
    const key = message.replaceAll(/[0-9a-f]{6,40}|\d+/gi, "#").slice(0, 120);
    const group = groups.get(key);
    if (group) group.count += 1;
    else groups.set(key, { text: message, line: index + 1, count: 1, isError });
  });
  const sorted = [...groups.values()].toSorted(
    (a, b) => Number(b.isError) - Number(a.isError) || b.count - a.count || a.line - b.line,
  );
  const trim = (stamp: string): string => stamp.replace(/^\W+/, "");
  const period = first !== undefined && last !== undefined ? [{ text: `${trim(first)} – ${trim(last)}` }] : [];
  return {
    ...emptyDigest,
    sections: [
      ...toSection("period", period, 1),
      ...toSection(
        "errors",
        sorted.map(({ text, line, count }) => ({
          text: cutText(text, 160),
          isCode: true as const,
          line,
          ...(count > 1 && { note: `× ${count}` }),
        })),
        12,
      ),
      ...(sorted.length === 0
        ? toSection(
            "first_lines",
            lines.slice(0, 3).map((text) => ({ text: cutText(text, 160), isCode: true as const })),
            3,
          )
        : []),
    ],
    counts: toCounts(["lines", lines.length], ["characters", characters], ["errors", errors], ["warnings", warnings]),
  };
}
