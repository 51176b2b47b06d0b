/** What failed and what to do about it, by error code, in English. Its type makes sure that the other languages have the same codes. */
const sendAgain = "Send the message again.";
const goOn = "Write “continue” to go on.";

/** How an answer, or a request for one, can fail (C20). */
const answerFailures = {
  INTERNAL: ["Something went wrong in Sheaf", "This is a bug. Please report it with the details."],
  USAGE: ["The request was not accepted", "The line below says what to change."],
  CONFIG_INVALID: ["The server’s configuration is invalid", "Whoever runs the server can correct it."],
  AUTH_REQUIRED: [
    "No API key for this provider",
    "Give the server a key: in its environment, or with `sheaf login` on its machine.",
  ],
  AUTH_REJECTED: ["The provider refused the API key", "Check it with `sheaf status` on the server’s machine."],
  PROVIDER_REJECTED: ["The provider refused the request", "Choose another model, or change what the line below names."],
  CONTEXT_LENGTH: [
    "The conversation is too long for the model",
    "Start a new one, or choose a model with a larger context window.",
  ],
  CONTENT_FILTER: [
    "The provider’s content filter stopped the answer",
    "Rephrase your message, or choose another model.",
  ],
  MODEL_NOT_FOUND: ["This model is not available", "Choose another model."],
  RATE_LIMITED: ["Too many requests", "Wait a moment, then send the message again."],
  OVERLOADED: ["The provider is overloaded", "Try again later, or choose another model."],
  NETWORK: ["The server cannot reach the provider", "Check its connection, then send the message again."],
  STREAM_STALLED: ["The provider stopped responding", sendAgain],
  STREAM_TRUNCATED: ["The provider cut off the answer", sendAgain],
  EMPTY_ANSWER: ["The model returned an empty answer", "Send the message again, or choose another model."],
  MAX_TOKENS: ["The answer reached the model’s length limit", goOn],
  REFUSED: ["The model declined to answer", "Rephrase your message, or choose another model."],
  OUTPUT_INVALID: ["The answer does not have the required form", sendAgain],
  LOOP_DETECTED: ["The model kept repeating itself", "Tell it what to do instead."],
  BUDGET_TURNS: ["Step limit reached", goOn],
  BUDGET_TOOLS: ["Tool call limit reached", goOn],
  BUDGET_TOKENS: ["Token limit reached", goOn],
  BUDGET_COST: ["Cost limit reached", "Whoever runs the server can raise it."],
  BUDGET_TIME: ["Time limit reached", goOn],
  PERMISSION_REQUIRED: ["A permission is missing", "Whoever runs the server can allow it with a rule."],
  SANDBOX_UNAVAILABLE: [
    "Commands cannot run here",
    "The operator of the server can set up its sandbox: `sheaf doctor` shows how.",
  ],
  STORAGE_FULL: ["The server’s disk is full", "Free some space, then send the message again."],
  STORAGE_LOCKED: ["The server’s storage is in use", sendAgain],
  STORAGE_CORRUPT: ["The server’s storage is damaged", "Whoever runs the server can check it with `sheaf doctor`."],
  CONVERSATION_BUSY: ["Another answer is being written here", "Stop it, or wait until it ends."],
  NEEDS_INPUT: ["The model has a question", "Answer it to go on."],
  CANCELLED: ["Stopped", ""],
} satisfies Readonly<Record<string, readonly [title: string, advice: string]>>;

/** How a step can fail while the answer goes on. */
const stepFailures = {
  BINARY_FILE: "Binary file",
  COMMAND_NOT_STARTED: "Command could not be started",
  DISK_FULL: "Disk full",
  FILE_EXISTS: "File already exists",
  FILE_NOT_FOUND: "File not found",
  FILE_TOO_LARGE: "File too large",
  INVALID_ARGUMENTS: "Invalid tool call",
  INVALID_PATTERN: "Invalid search pattern",
  PATH_OUTSIDE_WORKSPACE: "Outside the workspace",
  PERMISSION_DENIED: "Not allowed",
  PROTECTED_PATH: "Protected file",
  READ_ONLY: "Read-only file",
  SEARCH_FAILED: "Search failed",
  STALE_FILE: "File changed in the meantime",
  TOOL_FAILED: "Tool failed",
  UNKNOWN_TOOL: "Unknown tool",
  WEB_SEARCH_FAILED: "Web search failed",
};

/** Title and advice of each failure of an answer. Advice may be empty. */
export type AnswerFailures = Readonly<Record<keyof typeof answerFailures, readonly [title: string, advice: string]>>;
export type StepFailures = Readonly<Record<keyof typeof stepFailures, string>>;

export const englishFailures: { readonly answer: AnswerFailures; readonly step: StepFailures } = {
  answer: answerFailures,
  step: stepFailures,
};
