/**
 * The library of `sheaf`. Start with `createAgent`; the rest is for programs that keep conversations, show stored runs,
 * or bring a model, a store or an approver of their own.
 */
export { createAgent, type Agent, type AgentOptions, type AgentRunOptions } from "./assemble/create-agent.ts";
export type { AgentRun } from "./assemble/agent-run.ts";
export type { CustomTool, CustomToolContext } from "./assemble/custom-tool.ts";
export type { PermissionSettings } from "./assemble/run-request.ts";
export type { Environment } from "@sheaf/base/paths";
export { errorTable, SheafError, type ErrorCode, type ErrorKind } from "@sheaf/base/errors";
export type { McpServers, McpServerSettings } from "./config/mcp-settings.ts";
export type { LanguageModel } from "@sheaf/models/language-model";
export type { Model, ModelMessage, ModelRequest, ModelToolCall, ToolDefinition } from "@sheaf/models/provider";
export type { Locale } from "./tools/tool-traits.ts";
export type { ProjectionOptions } from "./output/create-message-projection.ts";
export { createProjection } from "./output/create-projection.ts";
export { outputFormats, type OutputFormat, type Projection } from "./output/projection.ts";
export type { BudgetLimits } from "./run/budget.ts";
export { createSqliteStore } from "@sheaf/store/sqlite";
export type { ConversationRecord, Durability, ResponseRecord, Store } from "@sheaf/store/store";
export type { ApprovalDecision, Approver } from "./tools/approval.ts";
