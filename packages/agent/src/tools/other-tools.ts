/** Tools that a run makes for itself, and the tool that a provider runs. */
import { toArgumentText, type ToolTraits } from "./tool-traits.ts";

/** `run_agent`, which runs subagents: a run has it only if the user wants it (C96). */
export const agentTraits = {
  name: "run_agent",
  access: "state",
  modes: ["ask", "plan"],
  isWithheld: true,
  words: [
    "Ran subagent",
    "Subagent ausgeführt",
    "Alt ajan çalıştırıldı",
    "サブエージェントを実行しました",
    "已執行子代理",
  ],
  kind: "think",
  toCursor: ({ task, kind }, agentId) => ({
    taskToolCall: {
      description: toShortText(toArgumentText(task)),
      prompt: toArgumentText(task),
      subagentType: toSubagentType(toArgumentText(kind)),
      agentId,
      mode: "TASK_MODE_UNSPECIFIED",
      environment: "SUBAGENT_EXECUTION_ENVIRONMENT_UNSPECIFIED",
    },
  }),
} as const satisfies ToolTraits;

/** Shortens a task to its first line. */
function toShortText(task: string): string {
  const [line = ""] = task.trim().split("\n", 1);
  return line.length > 60 ? `${line.slice(0, 59).toWellFormed().trimEnd()}…` : line;
}

/** The captured streams name one kind, `explore`, which is a search; every other has a name. */
function toSubagentType(kind: string): Record<string, unknown> {
  return kind === "search" ? { explore: {} } : { custom: { name: kind } };
}

/** `read_skill`, whose only path is a file of the skill. */
export const skillTraits = {
  name: "read_skill",
  access: "read",
  paths: { files: ["file"] },
  isWithheld: true,
  words: ["Read skill", "Skill gelesen", "Beceri okundu", "スキルを読み取りました", "已讀取技能"],
} as const satisfies ToolTraits;

/** Finds and loads tools of servers (C113). A run that chooses such tools needs it to reach them. */
export const searchToolName = "tool_search";

/** The provider's own search. */
const webSearch: ToolTraits = {
  name: "web_search",
  access: "network",
  words: ["Searched the web", "Im Web gesucht", "Web'de arandı", "Webを検索しました", "已搜尋網路"],
  kind: "search",
};

export const otherTools: readonly ToolTraits[] = [agentTraits, skillTraits, webSearch];
