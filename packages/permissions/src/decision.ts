/** The policy's input for a call, and its decisions. */
import type { ApprovalReason, Mode } from "@sheaf/protocol";

/** The effect of a tool, by which permissions and modes decide. */
export type ToolAccess = "read" | "write" | "command" | "state" | "network" | "mcp";

/** The part of a tool's description by which the policy decides. */
export interface JudgedTool {
  readonly name: string;
  readonly access: ToolAccess;
  /** The modes, apart from agent and debug, that offer a tool whose access is `state`. Default: none. */
  readonly modes?: readonly Mode[];
}

/** The files that a call names, and the folders (or files) that it searches, as paths. */
export interface CallPaths {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/** The paths of a call in one folder: the workspace or an added folder. */
export interface PlacedPaths extends CallPaths {
  /** Path of that folder: absolute, links resolved. */
  readonly root: string;
}

/** The policy's decision about a call. */
export type PermissionDecision =
  | {
      readonly decision: "allow";
      /** The rule that allowed it, in its original text. */
      readonly rule?: string;
      /** The reason why it needs no question, in one line. */
      readonly reason: string;
    }
  | {
      readonly decision: "deny";
      /** The rule that denied it, in its original text. */
      readonly rule?: string;
      /** The reason and the remedy, for the model and the user, in one line. */
      readonly reason: string;
      /** Present if the call could change files and only the missing sandbox forbids it (S-31). */
      readonly lacks?: "sandbox";
    }
  | {
      /** A person must agree first. In a run without one, Sheaf refuses the call (S-11). */
      readonly decision: "ask";
      /** The reason why no rule allows it, in one line. */
      readonly reason: string;
      /** The reason as a value for programs (X34). */
      readonly cause: ApprovalReason;
      /** The remedy for the person who started Sheaf, as text after the reason. A person who decides needs no flags. */
      readonly advice?: string;
      /** The rules that would allow it in future; empty if no rule can. */
      readonly always: readonly string[];
    };

export function allow(reason: string): PermissionDecision {
  return { decision: "allow", reason };
}

export function allowByRule(rule: string): PermissionDecision {
  return { decision: "allow", rule, reason: `the user's rule allows it` };
}

export function deny(reason: string, rule?: string, lacks?: "sandbox"): PermissionDecision {
  return { decision: "deny", ...(rule !== undefined && { rule }), reason, ...(lacks && { lacks }) };
}

/** The reason why a person must agree, as a sentence and as a value for programs (X34). */
export interface AskReason {
  readonly reason: string;
  readonly cause: ApprovalReason;
}

export function ask(why: AskReason, advice?: string, always: readonly string[] = []): PermissionDecision {
  const { reason, cause } = why;
  return { decision: "ask", reason, cause, ...(advice !== undefined && { advice }), always };
}

/** Returns reason and remedy for a run without a person. `who` replaces the user of flags in the remedy. */
export function toFullReason({ reason, ...rest }: PermissionDecision, who = "the user passes"): string {
  if (!("advice" in rest) || rest.advice === undefined) return reason;
  return `${reason}: ${rest.advice.replace("the user passes", () => who)}`;
}
