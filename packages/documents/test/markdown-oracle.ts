import { type Node, Parser } from "commonmark";
import { parse, postprocess, preprocess } from "micromark";

/** A top-level fence as a complete CommonMark parser sees it. */
export interface OracleFence {
  /** From 0; the opening fence. */
  readonly firstLine: number;
  /** Included; the closing fence if there is one. */
  readonly lastLine: number;
  readonly info: string;
  readonly content: string;
  readonly closed: boolean;
}

/** A segment as the oracle's fences leave it to expect (N15, N24). */
export interface OracleSegment {
  readonly type: "text" | "fence";
  readonly info: string;
  readonly content: string;
  readonly closed: boolean;
}

/** The top-level fences of a complete text by micromark. */
export function toMicromarkFences(text: string): OracleFence[] {
  const events = postprocess(
    parse()
      .document()
      .write(preprocess()(text, undefined, true)),
  );
  const fences: OracleFence[] = [];
  let depth = 0;
  let fenceLines = 0;
  let info = "";
  let pieces: string[] = [];
  let inFence = false;
  for (const [kind, token, context] of events) {
    const enters = kind === "enter";
    if (token.type === "blockQuote" || token.type === "listOrdered" || token.type === "listUnordered") {
      depth += enters ? 1 : -1;
    } else if (depth > 0) {
      continue;
    } else if (token.type === "codeFenced" && enters) {
      inFence = true;
      fenceLines = 0;
      pieces = [];
    } else if (token.type === "codeFenced") {
      inFence = false;
      const closed = fenceLines === 2;
      // Without the line end of the opening line and the one before the closing line, or the last one of the text.
      const content = pieces.slice(1, closed || /[\r\n]$/.test(text) ? -1 : undefined).join("");
      fences.push({ firstLine: token.start.line - 1, lastLine: token.end.line - 1, info, content, closed });
    } else if (inFence && enters) {
      if (token.type === "codeFencedFence") {
        if (fenceLines === 0) info = toInfo(context.sliceSerialize(token));
        fenceLines += 1;
      } else if (token.type === "lineEnding" || token.type === "codeFlowValue") {
        pieces.push(context.sliceSerialize(token));
      }
    }
  }
  return fences;
}

/** The top-level fences of a complete text by commonmark.js, the reference implementation. */
export function toCommonmarkFences(text: string): OracleFence[] {
  const lines = toLines(text);
  const fences: OracleFence[] = [];
  for (let node = parseByCommonmark(text).firstChild; node !== null; node = node.next) {
    if (node.type !== "code_block" || node.info === null) continue;
    const [[first], [last]] = node.sourcepos;
    const contents = (node.literal ?? "").split("\n").slice(0, -1);
    // The parser replaces line ends; ours keeps them.
    const content = contents.map((line, at) => line + (at < contents.length - 1 ? toLineEnd(lines[first + at]) : ""));
    fences.push({
      firstLine: first - 1,
      lastLine: last - 1,
      info: toInfo(lines[first - 1] ?? ""),
      content: content.join(""),
      closed: last - first === contents.length + 1,
    });
  }
  return fences;
}

/** The fences in list items and block quotes by commonmark.js: the lines of each, with all that stands before it. */
export function toNestedCommonmarkFences(text: string): string[] {
  const lines = toLines(text);
  const root = parseByCommonmark(text);
  const walker = root.walker();
  const fences: string[] = [];
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { node } = step;
    if (!step.entering || node.type !== "code_block" || node.info === null || node.parent === root) continue;
    const [[first], [last]] = node.sourcepos;
    fences.push(lines.slice(first - 1, last).join(""));
  }
  return fences;
}

/** The segments that these top-level fences cut a text into. */
export function toOracleSegments(text: string, fences: readonly OracleFence[]): OracleSegment[] {
  const lines = toLines(text);
  const segments: OracleSegment[] = [];
  let line = 0;
  const addText = (end: number): void => {
    const content = lines
      .slice(line, end)
      .join("")
      .replace(/^([ \t]*(\r\n|\n|\r))+/, "")
      .replace(/[ \t\r\n]+$/, "");
    if (content !== "") segments.push({ type: "text", info: "", content, closed: true });
  };
  for (const { firstLine, lastLine, info, content, closed } of fences) {
    addText(firstLine);
    segments.push({ type: "fence", info, content, closed });
    line = lastLine + 1;
  }
  addText(lines.length);
  return segments;
}

/** commonmark.js takes a CR at the very end for one more, empty line. */
function parseByCommonmark(text: string): Node {
  return new Parser().parse(text.replace(/\r$/, "\n"));
}

/** Lines with their line ends. */
function toLines(text: string): string[] {
  return text.split(/(?<=\r\n|\n|\r(?!\n))/);
}

function toLineEnd(line: string | undefined): string {
  return /(\r\n|\n|\r)$/.exec(line ?? "")?.[0] ?? "";
}

/** The raw info string of an opening line. */
function toInfo(line: string): string {
  return line.replace(/^ *(`+|~+)/, "").replace(/^[ \t]+|[ \t\r\n]+$/g, "");
}
