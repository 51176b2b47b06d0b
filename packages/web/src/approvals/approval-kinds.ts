/** What open approvals have in common: which of them one button may allow, and which "always" covers too. */
import type { ApprovalOption, ApprovalRequestData } from "@sheaf/protocol";
import { toVisibleParts } from "../elements/hidden-characters.ts";
import { readText } from "../views/metadata.ts";

/** Open approvals of one kind: commands, changes of files, or calls of one tool. */
export interface ApprovalGroup {
  readonly type: string;
  /** "" for commands and changes of files. */
  readonly toolName: string;
  readonly approvals: readonly ApprovalRequestData[];
}

/**
 * The kinds of which several are open. One button allows each of these once, and nothing that comes later. What
 * contains hidden characters is left out: a person must look at it (S-16).
 */
export function listGroups(approvals: readonly ApprovalRequestData[]): readonly ApprovalGroup[] {
  const groups = new Map<string, ApprovalRequestData[]>();
  for (const approval of approvals) {
    const { subject } = approval;
    // Each question of a server has an answer of its own.
    if (readText(subject, "type") === "server_question") continue;
    if (hasHiddenCharacters(subject) || findOption(approval, "allow_once") === undefined) continue;
    const key = JSON.stringify([readText(subject, "type"), toToolName(approval)]);
    groups.set(key, [...(groups.get(key) ?? []), approval]);
  }
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .map((group) => ({ type: readText(group[0]!.subject, "type"), toolName: toToolName(group[0]!), approvals: group }));
}

function toToolName({ subject }: ApprovalRequestData): string {
  return subject.type === "tool_call" ? readText(subject, "toolName") : "";
}

/** Open approvals that the rules of an answer allow as well (X45): the server would not ask for them any more. */
export function listCovered(
  approvals: readonly ApprovalRequestData[],
  { kind, rules = [] }: ApprovalOption,
): readonly ApprovalRequestData[] {
  if (kind !== "allow_always" || rules.length === 0) return [];
  return approvals.filter((approval) => {
    const needed = findOption(approval, "allow_always")?.rules ?? [];
    return needed.length > 0 && needed.every((rule) => rules.includes(rule));
  });
}

/** The options of an approval, as far as they can be read. */
export function listOptions({ options }: ApprovalRequestData): readonly ApprovalOption[] {
  return Array.isArray(options) ? options.filter((option) => typeof option?.id === "string") : [];
}

export function findOption(approval: ApprovalRequestData, kind: ApprovalOption["kind"]): ApprovalOption | undefined {
  return listOptions(approval).find((option) => option.kind === kind);
}

/** Everything that would happen, as one text. */
export function toSubjectText({ type, ...rest }: ApprovalRequestData["subject"]): string {
  const command = readText(rest, "command");
  return type === "command" && command !== "" ? command : JSON.stringify(rest, undefined, 2);
}

/** Hidden characters, also those that the server already shows as code points. */
export function hasHiddenCharacters(subject: ApprovalRequestData["subject"]): boolean {
  const text = toSubjectText(subject);
  return /<U\+[\dA-F]{4,6}/.test(text) || toVisibleParts(text).some(({ code }) => code !== undefined);
}
