/** The prompt of a tool server that a message names (C111). */
import type { RunStart } from "@sheaf/protocol";
import { SheafError } from "../base/errors.ts";
import { parseTypedCommand } from "../config/skills.ts";
import type { Permissions } from "../guard/permissions/permissions.ts";
import { checkAttachmentTypes } from "../model/attachments.ts";
import type { Model } from "../model/provider.ts";
import type { ServerPrompts } from "../tools/mcp/server-prompts.ts";
import { findExcess } from "../workspace/attachment.ts";
import type { RunRequest } from "./run-request.ts";

interface PromptPorts {
  /** Undefined: the response has no servers. */
  readonly prompts: ServerPrompts | undefined;
  readonly permissions: Permissions;
  readonly model: Model;
}

/** Nothing for any other message. @throws SheafError USAGE if the prompt does not exist, or cannot be sent. */
export async function prepareServerPrompt(
  { message, mode, typed = message.prompt }: RunRequest,
  { prompts, permissions, model }: PromptPorts,
  signal: AbortSignal,
): Promise<Pick<RunStart, "commandNote" | "attachments">> {
  const command = typed.trimStart().startsWith("/mcp__") ? parseTypedCommand(typed) : undefined;
  if (!command) return {};
  if (!prompts) {
    const advice = mode === "ask" || mode === "plan" ? `in ${mode} mode no server is started` : "see sheaf mcp list";
    throw new SheafError("USAGE", `/${command.name} is a prompt of a tool server, and this run has none: ${advice}`);
  }
  const prompt = await prompts.find(command.name, signal);
  const request = { tool: { name: command.name, access: "mcp" }, arguments: {} } as const;
  const mcp = { server: prompt.server, tool: "prompts/get" };
  const decided = await permissions.decide({ ...request, mcp });
  if (decided.decision === "deny") {
    throw new SheafError("USAGE", `the rule ${decided.rule} denies /${command.name}: send another message`);
  }
  const { note, attachments } = await prompts.fill(prompt, command.arguments, signal);
  if (attachments.length === 0) return { commandNote: note };
  checkAttachmentTypes(attachments, model);
  const all = [...(message.attachments ?? []), ...attachments];
  const excess = findExcess(all);
  if (excess !== undefined) throw new SheafError("USAGE", excess);
  return { commandNote: note, attachments: all };
}
