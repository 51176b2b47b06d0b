/** What a tool does to the world. Permissions and modes decide by it. */
export type ToolAccess = "read" | "write" | "command" | "state" | "network" | "mcp";
