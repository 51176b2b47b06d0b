/** Messages between the page and the frame of a diagram (S-112). */

/** The page's order to draw a source. */
export interface DrawOrder {
  readonly source: string;
  readonly isDark: boolean;
}

/** The frame's report to the page. */
export type FrameReport =
  | { readonly kind: "ready" }
  /** Natural size, in CSS pixels. */
  | { readonly kind: "drawn"; readonly width: number; readonly height: number }
  | { readonly kind: "failed"; readonly problem: string };

/** Limit of a drawing's width and height, in CSS pixels. */
const largestSide = 8000;
/** Limit of the library's message, in UTF-16 units. */
const longestProblem = 400;

/** Reads a frame's message, which isn't trusted: the frame draws untrusted text. Undefined for other messages. */
export function readReport(data: unknown): FrameReport | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { kind, width, height, problem } = data as Readonly<Record<string, unknown>>;
  if (kind === "ready") return { kind };
  if (kind === "failed" && typeof problem === "string") return { kind, problem: problem.slice(0, longestProblem) };
  if (kind !== "drawn" || !isSide(width) || !isSide(height)) return undefined;
  return { kind, width: Math.min(width, largestSide), height: Math.min(height, largestSide) };
}

function isSide(value: unknown): value is number {
  return typeof value === "number" && value > 0 && Number.isFinite(value);
}
