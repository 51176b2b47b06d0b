/** A text to its digest: what kind of text it is decides how it is read. */
import { toBaseName, toExtension } from "../mention.ts";
import { createCodeDigest, findCodeLanguage } from "./digest-code.ts";
import { createJsonDigest, createTableDigest } from "./digest-data.ts";
import { createDiffDigest, createLogDigest, isDiff, isLog } from "./digest-lines.ts";
import { createProseDigest } from "./digest-prose.ts";
import { toLines, type Digest } from "./digest.ts";

const proseExtensions = new Set(["md", "mdx", "markdown", "rst", "adoc"]);

/** A digest of a text; `path` is undefined for a text without a name. Linear in the text (S-72). */
export function createDigest(text: string, path: string | undefined): Digest {
  const lines = toLines(text);
  const extension = path === undefined ? "" : toExtension(path);
  if (extension === "json")
    return createJsonDigest(text, toBaseName(path ?? "")) ?? createProseDigest(lines, text.length, true);
  const language = findCodeLanguage(extension);
  if (language !== undefined) return createCodeDigest(lines, text.length, language);
  if (extension === "csv" || extension === "tsv")
    return createTableDigest(lines, text.length, extension === "csv" ? "," : "\t");
  if (proseExtensions.has(extension)) return createProseDigest(lines, text.length, false);
  if (extension === "diff" || extension === "patch" || isDiff(lines)) return createDiffDigest(lines, text.length);
  if (extension === "log" || isLog(lines)) return createLogDigest(lines, text.length);
  if (extension === "") {
    const guessed = createGuessedDigest(text, lines);
    if (guessed) return guessed;
  }
  return createProseDigest(lines, text.length, !isMarkdown(lines));
}

/** A text without a name can be JSON or code. */
function createGuessedDigest(text: string, lines: readonly string[]): Digest | undefined {
  const start = text.trimStart().charAt(0);
  const end = text.trimEnd().at(-1);
  if ((start === "{" && end === "}") || (start === "[" && end === "]")) {
    const digest = createJsonDigest(text, "");
    if (digest && digest.invalidJson === undefined) return digest;
  }
  const script = guessScript(lines);
  if (script !== undefined) return createCodeDigest(lines, text.length, script);
  if (isMarkdown(lines)) return undefined;
  const language = guessLanguage(lines);
  return language === undefined ? undefined : createCodeDigest(lines, text.length, language);
}

function isMarkdown(lines: readonly string[]): boolean {
  return lines.slice(0, 200).some((line) => /^ {0,3}(?:#{1,6}\s+\S|```|~~~)/.test(line) && !line.startsWith("#!"));
}

/** Scripts whose comments look like headings. */
function guessScript(lines: readonly string[]): string | undefined {
  const first = lines[0] ?? "";
  if (first.startsWith("#!")) {
    if (/\b(?:ba|z|da)?sh\b/.test(first.slice(0, 80))) return "shell";
    if (/python/.test(first.slice(0, 80))) return "python";
    return /node|deno|bun/.test(first.slice(0, 80)) ? "script" : undefined;
  }
  const head = lines.slice(0, 200);
  if (head.some((line) => line.startsWith("```"))) return undefined;
  const isPython = (line: string): boolean =>
    line.length < 200 && /^(?:(?:async )?def \w+\(|class \w+.{0,80}:$|import \w+|from [\w.]+ import )/.test(line);
  return head.filter(isPython).length >= 2 ? "python" : undefined;
}

function guessLanguage(lines: readonly string[]): string | undefined {
  const head = lines.slice(0, 200).filter((line) => line.trim() !== "" && line.length < 400);
  if (head.length < 3) return undefined;
  const share = (pattern: RegExp): number => head.filter((line) => pattern.test(line)).length / head.length;
  if (
    share(/^\s{0,40}(?:def|class|import|from|if|for|while|return|elif|else|with|try|except|@\w+)\b.{0,300}:?\s*$/) > 0.4
  )
    return "python";
  if (share(/[;{}]\s*$/) <= 0.5) return undefined;
  const isOf = (pattern: RegExp): boolean => head.some((line) => pattern.test(line));
  if (isOf(/^(?:package\s+\w+|func\s)/) && !isOf(/;\s*$/)) return "go";
  if (isOf(/^(?:pub\s+)?(?:fn|impl|use|mod)\s/)) return "rust";
  if (isOf(/^#include\b/)) return "c";
  if (isOf(/^\s{0,8}(?:public|private|protected)\s+(?:static\s+)?(?:class|void|final|[A-Z]\w+\s+\w+\()/)) return "java";
  return "script";
}
