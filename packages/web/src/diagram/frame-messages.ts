/** What the page and the frame of a diagram say to each other (S-112). */

/** From the page: what to draw. */
export interface DrawOrder {
  readonly source: string;
  readonly isDark: boolean;
}

/** From the frame. */
export type FrameReport =
  | { readonly kind: "ready" }
  /** Natural size, in CSS pixels. */
  | { readonly kind: "drawn"; readonly width: number; readonly height: number }
  | { readonly kind: "failed"; readonly problem: string };

/** Sizes that a frame may ask for, in CSS pixels. */
const largestSide = 8000;
/** UTF-16 units of a message of the drawing library. */
const longestProblem = 400;

/** Reads what a frame says: foreign text was drawn there, so it is not trusted. Undefined: something else. */
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
