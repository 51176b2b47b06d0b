/** Groups open approvals: those of one kind, which one button allows, and those covered by an option "always". */
import type { ApprovalOption, ApprovalRequestData } from "@sheaf/protocol";
import { toVisibleParts } from "../elements/hidden-characters.ts";
import { readText } from "../views/metadata.ts";

/** Open approvals of one kind: commands, changes of files, or calls of one tool. */
export interface ApprovalGroup {
  readonly type: string;
  /** Name of the tool; "" for commands and changes of files. */
  readonly toolName: string;
  readonly approvals: readonly ApprovalRequestData[];
}

/**
 * Lists the kinds with several open approvals. One button allows each of these once, and no later one. Approvals with
 * hidden characters are missing: the user must look at each of them (S-16).
 */
export function listGroups(approvals: readonly ApprovalRequestData[]): readonly ApprovalGroup[] {
  const groups = new Map<string, ApprovalRequestData[]>();
  for (const approval of approvals) {
    const { subject } = approval;
    // The user answers each question of a server separately.
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

/** Lists the open approvals that an option's rules allow as well (X45): the server wouldn't ask about them any more. */
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

/** Lists the valid options of an approval. */
export function listOptions({ options }: ApprovalRequestData): readonly ApprovalOption[] {
  return Array.isArray(options) ? options.filter((option) => typeof option?.id === "string") : [];
}

export function findOption(approval: ApprovalRequestData, kind: ApprovalOption["kind"]): ApprovalOption | undefined {
  return listOptions(approval).find((option) => option.kind === kind);
}

/** Returns everything that would happen as one text. */
export function toSubjectText({ type, ...rest }: ApprovalRequestData["subject"]): string {
  const command = readText(rest, "command");
  return type === "command" && command !== "" ? command : JSON.stringify(rest, undefined, 2);
}

/** True if the text has hidden characters, or code points that the server shows for them. */
export function hasHiddenCharacters(subject: ApprovalRequestData["subject"]): boolean {
  const text = toSubjectText(subject);
  return /<U\+[\dA-F]{4,6}/.test(text) || toVisibleParts(text).some(({ code }) => code !== undefined);
}
