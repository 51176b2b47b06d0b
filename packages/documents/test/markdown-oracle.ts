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
  const events = postprocess(parse().document().write(preprocess()(text, undefined, true)));
  const fences: OracleFence[] = [];
  let depth = 0;
  let fenceLines = 0;
  let info = "";
  let content = "";
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
      content = "";
    } else if (token.type === "codeFenced") {
      inFence = false;
      const closed = fenceLines === 2;
      // Without the line end of the opening line and the one before the closing line, or the last one of the text.
      content = content.replace(/^(\r\n|\n|\r)/, "");
      if (closed || /[\r\n]$/.test(text)) content = content.replace(/(\r\n|\n|\r)$/, "");
      fences.push({ firstLine: token.start.line - 1, lastLine: token.end.line - 1, info, content, closed });
    } else if (inFence && enters) {
      if (token.type === "codeFencedFence") {
        if (fenceLines === 0) info = context.sliceSerialize(token).replace(/^(`+|~+)/, "");
        fenceLines += 1;
      } else if (token.type === "lineEnding" || token.type === "codeFlowValue") {
        content += context.sliceSerialize(token);
      }
    }
  }
  return fences.map((fence) => ({ ...fence, info: fence.info.replace(/^[ \t]+|[ \t]+$/g, "") }));
}

/** The segments that these top-level fences cut a text into. */
export function toOracleSegments(text: string, fences: readonly OracleFence[]): OracleSegment[] {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
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
