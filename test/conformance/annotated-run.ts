/** The annotated run of cli.md: a log, and the lines that stream-json makes of it. */
import type { RunEvent, RunEventBody, ToolEffect } from "@sheaf/protocol";
import { createStreamJsonProjection } from "../../packages/agent/src/output/stream-json.ts";

/** An event, its time after the start in milliseconds, and a comment on its lines. */
type Step = readonly [after: number, event: RunEventBody, comment?: string | undefined];

const start = 1_771_842_600_000;
const folder = "/home/ada/wordy";
const summary = "Wordy is a small program that counts words.";
const readme = `# Wordy\n\nA small program that counts words.`;
const reported = { stdout: "1 passed, 1 failed\n", stderr: 'count("") gave 1\n' };

const text = (after: number, piece: string, comment?: string): Step => [
  after,
  { type: "text_delta", text: piece },
  comment,
];

const endTurn = (after: number, finishReason: "tool_calls" | "stop", modelMs: number, promptTokens: number): Step => [
  after,
  {
    type: "turn_end",
    finishReason,
    rawFinishReason: finishReason,
    usage: { promptTokens, completionTokens: 59, totalTokens: promptTokens + 59, cachedPromptTokens: 725 },
    modelMs,
  },
];

const call = (
  turn: number,
  [begin, end]: readonly [number, number],
  tool: readonly [name: string, documentType: "tool_call" | "file_edit" | "terminal_command"],
  args: Record<string, unknown>,
  result: { readonly output: string; readonly effect: ToolEffect },
  comments: readonly [string, string],
): Step[] => {
  const callId = `call_0${turn}`;
  const [toolName, documentType] = tool;
  return [
    [begin, { type: "tool_call_start", callId, toolName, documentType }],
    [begin, { type: "tool_call_arguments", callId, arguments: args }, comments[0]],
    endTurn(begin, "tool_calls", 850, 990 + turn * 10),
    [end, { type: "tool_result", callId, status: "success", durationMs: end - begin, ...result }, comments[1]],
    [end, { type: "turn_start", turn: turn + 1 }],
  ];
};

const path = `${folder}/README.md`;
const place = { startLine: 1, endLine: 3, totalLines: 3, totalChars: 43, fileSize: 43 };
const written = `${folder}/summary.txt`;
const change = { linesAdded: 1, linesRemoved: 0, bytes: 43, content: summary } as const;
const command = "npm test --silent";

const steps: readonly Step[] = [
  [
    0,
    {
      type: "run_start",
      responseId: "chat_b1f7d0c2-6a0e-4c55-8a43-90f2f1c7e6aa",
      conversationId: "conv_5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411",
      mode: "agent",
      model: "example-large-2",
      modelName: "Example Large 2",
      apiKeySource: "env",
      workspace: folder,
      permissionMode: "default",
      sandbox: "enabled",
      trusted: false,
      sheafVersion: "0.1.0",
      prompt: "Sum up README.md in summary.txt, then run the tests",
    },
    "C5, C6: the first line, then the prompt. The workspace isn't trusted; the key is a variable of the environment.",
  ],
  [10, { type: "turn_start", turn: 1 }],
  text(812, "I will read ", "C7: the first chunk of the model …"),
  text(852, "the README first.", "… and the second. Each has one content item."),
  ...call(
    1,
    [917, 921],
    ["read_file", "tool_call"],
    { target_file: "README.md" },
    { output: readme, effect: { kind: "read", path, isEmpty: false, exceededLimit: false, ...place } },
    [
      "C8, C9: the model reads a file. The path is the one the model gave.",
      "The call ended: args again, and the result. README.md has no line end after its third line, so totalLines is 3.",
    ],
  ),
  ...call(
    2,
    [1861, 1867],
    ["write_file", "file_edit"],
    { target_file: "summary.txt", content: summary },
    {
      output: "",
      effect: {
        kind: "file_edit",
        changes: [{ operation: "create", filePath: "summary.txt", path: written, ...change }],
      },
    },
    [
      "A second call. In args of writeToolCall the toolCallId is the call_id.",
      "The path of the result is absolute. fileSize counts bytes.",
    ],
  ),
  ...call(
    3,
    [2587, 4072],
    ["run_terminal_cmd", "terminal_command"],
    { command, description: "Run the tests" },
    {
      output: `${reported.stderr}${reported.stdout}`,
      effect: {
        kind: "command",
        command,
        workingDirectory: folder,
        exitCode: 1,
        signal: "",
        ...reported,
        timedOut: false,
        background: false,
        permissions: [],
      },
    },
    ["A command.", "Its exit code is 1, so the key is `failure`. The run itself doesn't fail."],
  ),
  text(
    4962,
    " The summary is in summary.txt.",
    "The model continues. Sheaf joins this text to the one before the calls without anything between.",
  ),
  text(5017, " One test fails: the empty text counts as one word."),
  endTurn(5029, "stop", 860, 1150),
  [
    5029,
    { type: "run_end", reason: "end_turn" },
    "C10: the last line. `result` is the four texts above, joined. The exit code is 0, and stderr is empty (C15).",
  ],
];

/** The same run, cancelled while its command runs. */
const cancelled: readonly Step[] = [
  ...steps.slice(
    0,
    steps.findIndex(([, event]) => event.type === "tool_result" && event.callId === "call_03"),
  ),
  [
    3100,
    {
      type: "tool_result",
      callId: "call_03",
      status: "cancelled",
      output: "",
      error: { code: "CANCELLED", message: "Cancelled by the user", details: "" },
      durationMs: 513,
    },
  ],
  [
    3110,
    {
      type: "run_end",
      reason: "cancelled",
      error: {
        code: "CANCELLED",
        message: "Cancelled by the user (SIGINT)",
        source: "user",
        details: "",
        retryable: false,
      },
    },
  ],
];

export function formatAnnotatedRun(): string {
  return toBlock(project(steps));
}

export function formatCancelledRun(): string {
  return toBlock(project(cancelled).slice(-2));
}

function project(run: readonly Step[]): string[] {
  const projection = createStreamJsonProjection();
  return run.flatMap(([after, body, comment], at) => {
    const event: RunEvent = { ...body, seq: at + 1, time: start + after };
    const lines = projection.push(event).map((line) => line.trimEnd());
    return comment === undefined || lines.length === 0 ? lines : [`# ${comment}`, ...lines];
  });
}

function toBlock(lines: readonly string[]): string {
  return ["```", ...lines, "```"].join("\n");
}
