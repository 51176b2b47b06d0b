/** Makes the comments of a change agree with the newest review (C222, C223). */
import { type Finding, formatReview, placeFindings } from "./findings.ts";
import type { ReviewHost } from "./review-host.ts";

/** Number of comments in one review at most. */
const MAX_POSTED = 50;

/** The result of `sheaf review post`. */
export interface PostResult {
  posted: number;
  /** Number of findings that already have a comment. */
  known: number;
  resolved: number;
  summary: "none" | "created" | "updated" | "unchanged";
  readonly not_posted: (Pick<Finding, "path" | "line"> & { readonly reason: string })[];
}

/** Posts the review, and updates `result` after each step, even before a failure. @throws SheafError of the host. */
export async function postFindings(
  findings: readonly Finding[],
  head: string,
  host: ReviewHost,
  result: PostResult,
): Promise<void> {
  const now = await host.read();
  const leaveOut = (some: readonly Finding[], reason: string): void =>
    void result.not_posted.push(...some.map(({ path, line }) => ({ path, line, reason })));
  if (now.head !== head) {
    leaveOut(findings, `the change has newer commits, up to ${now.head}`);
    return;
  }
  const { placed, unplaced } = placeFindings(findings, now.lines);
  const fresh = placed.filter(({ id }) => !now.comments.has(id));
  const [chosen, rest] = [fresh.slice(0, MAX_POSTED), fresh.slice(MAX_POSTED)];
  result.known = placed.length - fresh.length;
  leaveOut(unplaced, "not a line of the change");
  leaveOut(rest, `more than ${MAX_POSTED} new findings`);
  while (chosen.length > 0) {
    const some = chosen.slice(0, host.batchSize);
    try {
      await host.postFindings(some);
    } catch (error) {
      leaveOut(chosen, "the host did not take it");
      throw error;
    }
    result.posted += chosen.splice(0, some.length).length;
  }
  const found = new Set(placed.map(({ id }) => id));
  for (const [id, comment] of now.comments) {
    if (comment.isSettled || comment.isResolved === !found.has(id)) continue;
    await host.setResolved(comment, !found.has(id));
    if (!found.has(id)) result.resolved += 1;
  }
  const open = placed.filter((one) => !rest.includes(one) && !now.comments.get(one.id)?.isSettled);
  const body = formatReview(open, [...rest, ...unplaced]);
  if (!now.summary && findings.length === 0) return;
  if (now.summary?.body.trim() !== body.trim()) await host.writeSummary(body, now.summary?.id);
  result.summary = !now.summary ? "created" : now.summary.body.trim() === body.trim() ? "unchanged" : "updated";
}
