/** The question to a person about a call (X8, S-16). */
import { hash } from "node:crypto";
import type { ApprovalOption } from "@sheaf/protocol";
import type { PermissionDecision, ToolAccess } from "@sheaf/permissions/decision";
import type { ApprovalQuestion } from "./approval.ts";
import type { ToolInvocation } from "./tool.ts";

type Ask = Extract<PermissionDecision, { decision: "ask" }>;

/** Returns the question about a call on which the policy does not decide. `toolHash`: hash of a server's tool. */
export function toApprovalQuestion(
  call: ToolInvocation,
  access: ToolAccess,
  { reason, cause, always }: Ask,
  toolHash?: string,
): ApprovalQuestion {
  return {
    title: toTitle(call, access),
    description: toVisibleCharacters(reason),
    reason: { ...cause, ...(cause.value !== undefined && { value: toVisibleCharacters(cause.value) }) },
    subject: toSubject(call, access),
    options: toOptions(always),
    argumentsHash: toArgumentsHash(call),
    rules: always,
    ...(toolHash !== undefined && { toolHash }),
  };
}

/** Returns the SHA-256, in hex, of a call's tool and exact arguments. */
export function toArgumentsHash({ toolName, arguments: args, rawArguments = "" }: ToolInvocation): string {
  return hash("sha256", JSON.stringify([toolName, args, rawArguments]), "hex");
}

function toTitle({ toolName }: ToolInvocation, access: ToolAccess): string {
  if (access === "command") return "Run this command?";
  if (access === "write") return "Change these files?";
  return `Let ${toVisibleCharacters(toolName)} run?`;
}

function toSubject({ toolName, arguments: args }: ToolInvocation, access: ToolAccess): ApprovalQuestion["subject"] {
  const visible = toVisibleArguments(args) as Readonly<Record<string, unknown>>;
  if (access === "command") {
    const { command = "", working_directory: workingDirectory = "." } = visible;
    return { type: "command", command, workingDirectory };
  }
  const type = access === "write" ? "file_edit" : "tool_call";
  return { type, toolName: toVisibleCharacters(toolName), arguments: visible };
}

/** Makes all texts visible, even names of fields, which can hide something. */
function toVisibleArguments(value: unknown): unknown {
  if (typeof value === "string") return toVisibleCharacters(value);
  if (Array.isArray(value)) return value.map(toVisibleArguments);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [toVisibleCharacters(name), toVisibleArguments(item)]),
  );
}

/** Returns the options. "Always" applies to the conversation: by rule if one exists, else to exactly this call. */
function toOptions(always: readonly string[]): ApprovalOption[] {
  const allowed = always.map(toVisibleCharacters);
  // A refusal of several rules at once does not reject each of them.
  const rejected = allowed.length === 1 ? allowed : [];
  const toName = (rules: readonly string[]): string => (rules.length === 0 ? "exactly this" : rules.join(", "));
  return [
    { id: "allow_once", label: "Allow once", kind: "allow_once" },
    {
      id: "allow_always",
      label: `Allow ${toName(allowed)} in this conversation`,
      kind: "allow_always",
      rules: allowed,
    },
    { id: "reject_once", label: "Reject", kind: "reject_once" },
    {
      id: "reject_always",
      label: `Reject ${toName(rejected)} in this conversation`,
      kind: "reject_always",
      rules: rejected,
    },
  ];
}

/** Control and format characters, marks that reorder text, unusual spaces, and unpaired surrogates. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}]/gu;

/** Runs of spaces that would push what follows out of sight. */
const longBlanks = /\n{4,}| {33,}|\t{9,}/g;

/**
 * Returns the whole text with each hidden character as its code, `<U+202E>`. Spaces, tabs and line feeds stay; a long
 * run becomes one code with the length of the run.
 */
export function toVisibleCharacters(text: string): string {
  return text
    .replaceAll(hidden, (character) => (/[ \t\n]/.test(character) ? character : formatCode(character)))
    .replaceAll(longBlanks, (run) => `<${formatCode(run[0]!).slice(1, -1)} ×${run.length}>`);
}

function formatCode(character: string): string {
  return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
}
