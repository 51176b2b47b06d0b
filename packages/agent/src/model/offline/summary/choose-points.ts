/** The sentences that say most: by place and by the frequency of their words. */
import { countTerms, toTerms } from "./terms.ts";

/** A sentence or list item that could be a point. */
export interface Candidate {
  readonly text: string;
  /** Which section it stands in. */
  readonly section: number;
  /** First sentence of its paragraph, or a list item. */
  readonly isLead: boolean;
  readonly isItem: boolean;
  readonly isBold: boolean;
  /** Stands in a section such as "Licence", which says little about the subject. */
  readonly isMinor: boolean;
  /** 0 (start) to 1 (end). */
  readonly place: number;
}

const headingLimit = 200;

interface Scored {
  readonly candidate: Candidate;
  readonly order: number;
  readonly terms: ReadonlySet<string>;
  readonly score: number;
}

/** Chosen in order of their score, given in order of the text; no two say the same. */
export function choosePoints(
  candidates: readonly Candidate[],
  headings: readonly string[],
  count: number,
  said: readonly string[],
): string[] {
  if (count <= 0) return [];
  const lists = candidates.map(({ text }) => toTerms(text));
  const frequencies = countTerms(lists);
  const headingTerms = new Set(headings.slice(0, headingLimit).flatMap(toTerms));
  const scored = candidates
    .map((candidate, order): Scored => {
      const terms = new Set(lists[order]);
      return { candidate, order, terms, score: toScore(candidate, terms, frequencies, headingTerms) };
    })
    .filter(({ terms, score }) => terms.size >= 2 && score > 0)
    .toSorted((a, b) => b.score - a.score || a.order - b.order);

  const chosen: Scored[] = [];
  const perSection = new Map<number, number>();
  const sections = new Set(candidates.map(({ section }) => section)).size;
  const sectionLimit = sections > 2 ? Math.max(2, Math.ceil(count / 2)) : count;
  const covered = said.map((text) => new Set(toTerms(text)));
  for (const entry of scored) {
    if (chosen.length >= count) break;
    const inSection = perSection.get(entry.candidate.section) ?? 0;
    if (inSection >= sectionLimit || covered.some((other) => isSame(entry.terms, other))) continue;
    chosen.push(entry);
    covered.push(new Set(entry.terms));
    perSection.set(entry.candidate.section, inSection + 1);
  }
  return chosen.toSorted((a, b) => a.order - b.order).map(({ candidate }) => candidate.text);
}

function toScore(
  candidate: Candidate,
  terms: ReadonlySet<string>,
  frequencies: ReadonlyMap<string, number>,
  headingTerms: ReadonlySet<string>,
): number {
  let weight = 0;
  let inHeadings = 0;
  for (const term of terms) {
    weight += Math.log(1 + (frequencies.get(term) ?? 0));
    if (headingTerms.has(term)) inHeadings += 1;
  }
  let score = weight / (terms.size + 4);
  score += Math.min(inHeadings, 3) * 0.15;
  if (candidate.isLead) score += 0.35;
  if (candidate.isItem) score += 0.1;
  if (candidate.isBold) score += 0.3;
  if (candidate.isMinor) score -= 0.8;
  score += 0.3 * (1 - candidate.place);
  return score + toShapeScore(candidate.text);
}

/** Whole sentences of middling length read best. */
function toShapeScore(text: string): number {
  const length = toWidth(text);
  let score = 0;
  if (length < 30) score -= 0.5;
  if (length > 260) score -= 0.3;
  // Lists of parameters begin so.
  if (/^[`@{[(<|]/.test(text)) score -= 0.4;
  if (/[:：]$/u.test(text)) score -= 1;
  if (/[?？]$/u.test(text)) score -= 0.3;
  if (/^\p{Ll}/u.test(text)) score -= 0.3;
  // Data, not a sentence.
  if (/[{}]|\[\{|":/.test(text)) score -= 1;
  if (/https?:\/\//.test(text)) score -= 0.2;
  if (
    /^(?:however|but|also|then|therefore|thus|this|these|that|it|they|aber|auch|dann|dies|ancak|ama|bu|ayrıca|しかし|また|但是|然而)[\s,、，]/iu.test(
      text,
    )
  ) {
    score -= 0.15;
  }
  return score;
}

/** Chinese and Japanese characters count double. */
export function toWidth(text: string): number {
  let width = text.length;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= 0x2e80) width += 1;
  return width;
}

function isSame(terms: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const smaller = Math.min(terms.size, other.size);
  if (smaller === 0) return false;
  let shared = 0;
  for (const term of terms) if (other.has(term)) shared += 1;
  return shared / smaller > 0.6;
}
