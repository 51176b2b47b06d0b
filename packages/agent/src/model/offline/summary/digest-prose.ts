/** Markdown and plain text. */
import { choosePoints, toWidth, type Candidate } from "./choose-points.ts";
import { toCounts, type Digest, type OutlineEntry } from "./digest.ts";
import { parseBlocks, type Block, type ParsedText } from "./markdown-blocks.ts";
import { sampleLines } from "./sample-lines.ts";
import { cutText, toSentences } from "./sentences.ts";

/** Sentences that are weighed. */
const candidateLimit = 1500;
const purposeLimit = 600;
const pointLimit = 240;
const outlineLimit = 24;
const commandLimit = 12;

const minorSection =
  /^(?:licen[sc]e|lizenz|lisans|ライセンス|授權|许可|contribut|mitwirken|beitragen|katkı|changelog|änderungen|acknowledg|credits|thanks|danksagung|authors?|autor|sponsors?|support|community|table of contents|inhalt|inhaltsverzeichnis|içindekiler|目次|目錄|目录|contents|see also|references|links|badges|貢獻|貢献)/i;
const isContents =
  /^(?:table of (?:main )?contents|contents|toc|inhalt|inhaltsverzeichnis|içindekiler|目次|目錄|目录)$/i;
const shellLanguages = new Set([
  "bash",
  "sh",
  "shell",
  "console",
  "zsh",
  "fish",
  "powershell",
  "ps1",
  "cmd",
  "bat",
  "terminal",
  "shellsession",
  "shell-session",
]);
const commandStart =
  /^(?:npm|npx|pnpm|yarn|bun|node|deno|git|gh|cd|cp|mkdir|curl|wget|brew|apt|apt-get|sudo|pip|pip3|python|python3|uv|poetry|cargo|go|make|cmake|docker|docker-compose|kubectl|helm|terraform|gem|bundle|rake|composer|php|mvn|gradle|\.\/gradlew|dotnet|export|source|sheaf|bash|sh)\s/;

/** A digest of prose. `isPlain`: no Markdown is expected, so its first short line may be a title. */
export function createProseDigest(lines: readonly string[], characters: number, isPlain: boolean): Digest {
  const sample = sampleLines(lines, characters);
  const parsed = parseBlocks(sample.lines);
  const title = findTitle(parsed, isPlain);
  const blocks = withoutTitle(parsed.blocks, title);
  const { purpose, used } = findPurpose(parsed, blocks);
  const candidates = toCandidates(blocks, used);
  const headings = blocks.flatMap((block) => (block.type === "heading" ? [block.text] : []));
  const points = choosePoints(candidates, [...headings, title ?? ""], toPointCount(blocks), purpose);
  return {
    ...(title !== undefined && { title }),
    purpose,
    points: points.map((point) => cutText(point, pointLimit)),
    outline: toOutline(blocks),
    commands: findCommands(blocks),
    sections: [],
    counts: sample.isSampled
      ? toCounts(
          ["lines", lines.length],
          ["characters", characters],
          ["headings", sample.headings],
          ["code_blocks", sample.codeBlocks],
        )
      : toProseCounts(parsed.blocks, lines.length, characters),
    ...(sample.isSampled && { isSampled: true as const }),
  };
}

function findTitle({ blocks, frontTitle }: ParsedText, isPlain: boolean): string | undefined {
  if (frontTitle !== undefined) return frontTitle;
  const [first, second] = blocks;
  const headings = blocks.filter((block) => block.type === "heading");
  const top = headings.find(({ depth }) => depth === 1) ?? (first?.type === "heading" ? first : undefined);
  if (top && blocks.indexOf(top) < 6) return top.text;
  const isShort = isPlain && first?.type === "paragraph" && toWidth(first.text) <= 80 && second !== undefined;
  return isShort && first.type === "paragraph" && !/[.!?。！？:：,，]$/u.test(first.text) ? first.text : undefined;
}

function withoutTitle(blocks: readonly Block[], title: string | undefined): readonly Block[] {
  const place = blocks.findIndex(
    (block) => (block.type === "heading" || block.type === "paragraph") && block.text === title,
  );
  return place === -1 || place > 5 ? blocks : blocks.filter((_, index) => index !== place);
}

/** The first real paragraph, and the next one when the first is short. */
function findPurpose(
  { frontDescription }: ParsedText,
  blocks: readonly Block[],
): { purpose: string[]; used: ReadonlySet<Block> } {
  const used = new Set<Block>();
  const purpose: string[] = frontDescription === undefined ? [] : [frontDescription];
  let length = toWidth(purpose.join(" "));
  const isOnly = blocks.filter(({ type }) => type === "paragraph" || type === "item").length === 1;
  for (const block of blocks) {
    if (purpose.length > 0 && (block.type === "heading" || block.type === "code")) break;
    if (block.type !== "paragraph") continue;
    const text = withoutLeadIn(block.text);
    if (!isReal(text, isOnly)) continue;
    purpose.push(text);
    used.add(block);
    length += toWidth(text);
    if (length >= 160 || purpose.length >= 2) break;
  }
  let left = purposeLimit;
  const cut: string[] = [];
  for (const paragraph of purpose) {
    if (left < 60) break;
    const text = cutText(paragraph, left);
    cut.push(text);
    left -= text.length;
  }
  return { purpose: cut, used };
}

/** Without a last sentence that only announces what stands below: "Three groups use it:". */
function withoutLeadIn(text: string): string {
  if (!/[:：]$/u.test(text)) return text;
  const sentences = toSentences(text);
  return sentences.length > 1 ? text.slice(0, text.lastIndexOf(sentences.at(-1) ?? "")).trim() : text;
}

/** Menus, single words and lead-ins to a list are no paragraphs. */
function isReal(text: string, isOnly: boolean): boolean {
  const width = toWidth(text);
  if (isOnly) return width >= 8;
  if (/[:：]$/u.test(text) && width < 120) return false;
  return (
    width >= 40 || (width >= 16 && /[.!?。！？]["'”’)）」]?$/u.test(text)) || (width >= 16 && /…$|\.\.\.$/.test(text))
  );
}

function toCandidates(blocks: readonly Block[], used: ReadonlySet<Block>): Candidate[] {
  const candidates: Candidate[] = [];
  let section = 0;
  let isMinor = false;
  blocks.forEach((block, index) => {
    if (block.type === "heading") {
      section += 1;
      isMinor = minorSection.test(block.text);
    }
    if (candidates.length >= candidateLimit || (block.type !== "paragraph" && block.type !== "item")) return;
    if (block.type === "item" && (block.isLink || toWidth(block.text) < 12)) return;
    const rest = { section, isMinor, isBold: block.isBold, place: index / blocks.length };
    const sentences = block.type === "item" ? [block.text] : toSentences(block.text);
    sentences.forEach((text, order) => {
      if (used.has(block) && order === 0) return;
      candidates.push({ ...rest, text, isLead: order === 0, isItem: block.type === "item" });
    });
  });
  return candidates;
}

/** About one point for each 60 words, at most eight; none for a text that its purpose covers. */
function toPointCount(blocks: readonly Block[]): number {
  const width = blocks.reduce(
    (sum, block) => sum + (block.type === "paragraph" || block.type === "item" ? toWidth(block.text) : 0),
    0,
  );
  return width < 300 ? Math.min(2, Math.floor(width / 120)) : Math.min(8, Math.max(2, Math.round(width / 400)));
}

/** Headings by depth; the deepest go first when there are too many. */
function toOutline(blocks: readonly Block[]): OutlineEntry[] {
  const headings = blocks.flatMap((block) => (block.type === "heading" && !isContents.test(block.text) ? [block] : []));
  if (headings.length < 2) return [];
  const top = headings.reduce((least, { depth }) => Math.min(least, depth), 6);
  let deepest = top + 2;
  while (deepest > top && headings.filter(({ depth }) => depth <= deepest).length > outlineLimit) deepest -= 1;
  let level = -1;
  return headings
    .filter(({ depth }) => depth <= deepest)
    .slice(0, outlineLimit)
    .map(({ depth, text }) => {
      level = Math.min(depth - top, level + 1);
      return { depth: level, text: cutText(text, 100) };
    });
}

/** Lines of shell blocks that can be run; output and comments are left out. */
function findCommands(blocks: readonly Block[]): string[] {
  const commands = new Set<string>();
  for (const block of blocks) {
    if (block.type !== "code") continue;
    const isShell = shellLanguages.has(block.language);
    if (!isShell && block.language !== "") continue;
    const hasPrompt = block.lines.some((line) => /^\s*[$%>] \S/.test(line));
    for (const line of block.lines.slice(0, 40)) {
      const command = toCommand(line, isShell, hasPrompt);
      if (command !== undefined && commands.size < commandLimit) commands.add(command);
    }
  }
  return [...commands];
}

function toCommand(line: string, isShell: boolean, hasPrompt: boolean): string | undefined {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.length > 160 || /^#|`{3}|~{3}/.test(trimmed)) return undefined;
  if (hasPrompt) return /^[$%>] (\S.*)$/.exec(trimmed)?.[1];
  const isIndented = /^\s/.test(line);
  if (commandStart.test(`${trimmed} `)) return trimmed;
  return isShell && !isIndented && /^[a-z./~][\w./-]*(?:\s|$)/.test(trimmed) ? trimmed : undefined;
}

function toProseCounts(blocks: readonly Block[], lines: number, characters: number): Digest["counts"] {
  const countOf = (type: Block["type"]): number => blocks.filter((block) => block.type === type).length;
  const languages = new Set(
    blocks.flatMap((block) =>
      block.type === "code" && /^[\w+#.-]{1,20}$/.test(block.language) ? [block.language] : [],
    ),
  );
  return toCounts(
    ["lines", lines],
    ["characters", characters],
    ["headings", countOf("heading")],
    ["list_items", countOf("item")],
    ["code_blocks", countOf("code"), [...languages].slice(0, 6).join(", ")],
    ["tables", countOf("table")],
  );
}
