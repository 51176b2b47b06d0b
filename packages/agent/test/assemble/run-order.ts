import type { RunRequest } from "../../src/assemble/run-request.ts";

/** The request of a run without flags, files of the user, and a sandbox; a test adds the workspace and the response. */
export const runOrder: Omit<RunRequest, "workspace" | "responseId"> = {
  conversationId: "conv_1",
  mode: "agent",
  trusted: false,
  sandbox: "disabled",
  limits: {},
  stopsOnDenied: false,
  permissions: { force: false, allow: [], deny: [] },
  addedFolders: [],
  mcpServers: {},
  dataFolder: undefined,
  environment: {},
  userFiles: undefined,
  message: { prompt: "go" },
  model: { id: "m", name: "M", apiKeySource: "none" },
};
