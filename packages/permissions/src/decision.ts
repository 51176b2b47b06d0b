/** What the policy decides on, and what it says. */
import type { ApprovalReason, Mode } from "@sheaf/protocol";

/** What a tool does to the world. Permissions and modes decide by it. */
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

/** The paths of a call in one folder: the workspace, or one that the user added. */
export interface PlacedPaths extends CallPaths {
  /** Absolute, links resolved. */
  readonly root: string;
}

/** What the policy says of a call. */
export type PermissionDecision =
  | {
      readonly decision: "allow";
      /** The rule that allowed it, as it was written. */
      readonly rule?: string;
      /** One line: why it needs no question. */
      readonly reason: string;
    }
  | {
      readonly decision: "deny";
      /** The rule that denied it, as it was written. */
      readonly rule?: string;
      /** One line for the model and the user: why, and what to do. */
      readonly reason: string;
      /** Present if the call could change something and only the missing sandbox forbids it (S-31). */
      readonly lacks?: "sandbox";
    }
  | {
      /** A person must agree first; where nobody can be asked, the call is refused (S-11). */
      readonly decision: "ask";
      /** One line: why no rule allows it. */
      readonly reason: string;
      /** The same for programs (X34). */
      readonly cause: ApprovalReason;
      /** Follows the reason: what whoever started Sheaf can do. A person who is asked needs no flags. */
      readonly advice?: string;
      /** The rules that would allow it from now on; empty if no rule can. */
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

/** The reason why a person must agree: in a sentence, and for programs (X34). */
export interface AskReason {
  readonly reason: string;
  readonly cause: ApprovalReason;
}

export function ask(why: AskReason, advice?: string, always: readonly string[] = []): PermissionDecision {
  const { reason, cause } = why;
  return { decision: "ask", reason, cause, ...(advice !== undefined && { advice }), always };
}

/** Why, and what to do, where nobody can be asked. */
export function toFullReason({ reason, ...rest }: PermissionDecision): string {
  return "advice" in rest && rest.advice !== undefined ? `${reason}: ${rest.advice}` : reason;
}
