/** The library surface of `sheaf`: run a response, keep its log, print it in any format. */
export { openConversation, type OpenConversation } from "./run/conversations/open-conversation.ts";
export { respond, type RespondPorts } from "./run/conversations/respond.ts";
export { errorTable, SheafError, type ErrorCode, type ErrorKind } from "./base/errors.ts";
export type { ToolAccess } from "./guard/permissions/decision.ts";
export type { Locale } from "./output/action-words.ts";
export { createProjection, type ProjectionOptions } from "./output/create-projection.ts";
export { outputFormats, type OutputFormat, type Projection } from "./output/projection.ts";
export type { Model, ModelMessage, ModelRequest, ModelToolCall, ToolDefinition } from "./model/provider.ts";
export type { BudgetLimits } from "./run/budget.ts";
export type { RunPorts, RunSettings } from "./run/run.ts";
export { createSqliteStore } from "./store/sqlite.ts";
export type { ConversationRecord, Durability, ResponseRecord, Store } from "./store/store.ts";
export type { Tool, ToolBox, ToolContext, ToolInvocation, ToolOutcome } from "./tools/tool.ts";
