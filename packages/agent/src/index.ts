/** The library surface of `sheaf`: run a response, keep its log, print it in any format. */
export { openConversation, type OpenConversation } from "./conversations/open-conversation.ts";
export { respond, type RespondPorts } from "./conversations/respond.ts";
export { errorTable, SheafError, type ErrorCode, type ErrorKind } from "./errors.ts";
export type { Locale } from "./output/action-words.ts";
export { createProjection, type ProjectionOptions } from "./output/create-projection.ts";
export { outputFormats, type OutputFormat, type Projection } from "./output/projection.ts";
export type { Model, ModelMessage, ModelRequest, ModelToolCall, ToolDefinition } from "./providers/provider.ts";
export type { BudgetLimits } from "./run/budget.ts";
export type { RunPorts, RunSettings } from "./run/run.ts";
export { createMemoryStore } from "./storage/memory.ts";
export { createSqliteStore } from "./storage/sqlite.ts";
export type { ConversationRecord, Durability, ResponseRecord, Store } from "./storage/store.ts";
export type { Tool, ToolAccess, ToolBox, ToolContext, ToolInvocation, ToolOutcome } from "./tools/tool.ts";
