/** What `sheaf mcp list-prompts` and `list-resources` print (C111). */
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ListedResource } from "@sheaf/agent/tools/mcp/resource-tools";
import type { ServerPrompt } from "@sheaf/agent/tools/mcp/server-prompts";

export function formatPrompts(server: string, prompts: readonly ServerPrompt[]): string {
  const lines = prompts.map(({ command, description, arguments: args }) => {
    const words = args.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`));
    return formatLine([`/${command}`, ...words].join(" "), description);
  });
  return `Prompts of ${toVisibleLine(server)} (${prompts.length}):\n${lines.join("")}`;
}

export function formatResources(server: string, resources: readonly ListedResource[]): string {
  const lines = resources.map(({ uri, name, mimeType }) =>
    formatLine(uri, [name, mimeType ?? ""].filter((text) => text !== "").join(", ")),
  );
  return `Resources of ${toVisibleLine(server)} (${resources.length}):\n${lines.join("")}`;
}

function formatLine(subject: string, about: string): string {
  const [line = ""] = about.trim().split(/\r?\n/, 1);
  return `- ${toVisibleLine(line === "" ? subject : `${subject}: ${line}`)}\n`;
}
