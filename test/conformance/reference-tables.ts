/** The tables of docs/reference that are made from code. `npm run list-covered` writes them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operations } from "../../packages/agent/src/output/operations.ts";
import { errorTable, type ErrorCode } from "../../packages/base/src/errors.ts";
import { commandDefinitions, commandNames } from "../../packages/cli/src/command-definitions.ts";
import { commonFlags } from "../../packages/cli/src/flag-sets.ts";
import { parseFlags } from "../../packages/cli/src/flags.ts";
import { type FinishReason } from "../../packages/protocol/src/response-parts.ts";
import { type StreamEventName } from "../../packages/protocol/src/stream-events.ts";
import { type ConversationChangeKind } from "../../packages/protocol/src/user-events.ts";

const packages = join(import.meta.dirname, "../../packages");

/** The first thing to do about each code. */
const remedies: Readonly<Record<ErrorCode, string>> = {
  INTERNAL: "run it again with `--verbose`, and report the line",
  INTERRUPTED: "continue with `--resume`",
  USAGE: "correct the value that the line shows",
  CONFIG_INVALID: "correct the file at the place that the line shows",
  AUTH_REQUIRED: "choose a model, or set the key of its provider",
  AUTH_REJECTED: "check the key with `sheaf doctor`",
  PROVIDER_REJECTED: "read the provider's reason in the line",
  CONTEXT_LENGTH: "start a new session, or set `--context-tokens`",
  CONTENT_FILTER: "rephrase the prompt, or use another model",
  MODEL_NOT_FOUND: "use one of the names in the line",
  RATE_LIMITED: "try again after `resets_at`, or add `--wait-for-quota`",
  OVERLOADED: "try again later, or add `--fallback-model`",
  NETWORK: "correct the address, or start the server",
  STREAM_STALLED: "try again, or raise `limits.silenceSeconds`",
  STREAM_TRUNCATED: "try again",
  EMPTY_ANSWER: "try again, or use another model",
  MAX_TOKENS: "ask for less, or raise the model's limit",
  REFUSED: "rephrase the prompt, or use another model",
  OUTPUT_INVALID: "try again, or simplify the schema",
  LOOP_DETECTED: "describe the task more exactly, or use another model",
  BUDGET_TURNS: "raise `--max-turns`, then `--resume`",
  BUDGET_TOOLS: "raise `--max-tool-calls`, then `--resume`",
  BUDGET_TOKENS: "raise `--max-tokens`, then `--resume`",
  BUDGET_COST: "raise `--max-cost-usd`, then `--resume`",
  BUDGET_TIME: "raise `--timeout`, then `--resume`",
  PERMISSION_REQUIRED: "allow the call with `--allow`",
  SANDBOX_UNAVAILABLE: "run `sheaf doctor`",
  SETUP_INCOMPLETE: "mend the part that the line shows",
  STORAGE_FULL: "free some space",
  STORAGE_LOCKED: "try again, or check the folder's permissions",
  STORAGE_CORRUPT: "run `sheaf store check`",
  CONVERSATION_BUSY: "wait for the response that runs",
  NEEDS_INPUT: "answer with `sheaf answer`",
  VERIFY_FAILED: "read the output of the failed check",
  CANCELLED: "continue with `--resume`",
};

const events: Readonly<Record<StreamEventName, string>> = {
  response_start: "the response, its conversation, model and mode; the first event",
  document_start: "a document starts, with its type and its place",
  content_delta: "a piece of a document's content",
  tool_call_start: "the tool of a document and the id of the call",
  arguments_delta: "a piece of the call's arguments, as JSON text",
  tool_call_arguments: "the whole arguments of the call",
  output_delta: "live output of a running call",
  tool_result: "the result of the call",
  document_end: "a document ends, with its whole content and metadata",
  reasoning_delta: "a piece of the model's thinking, with `?reasoning=1`",
  snapshot: "the whole response so far, which replaces everything before",
  approval_request: "a call waits for an approval",
  approval_resolved: "a person or a timeout decided about an approval",
  provider_wait: "Sheaf waits before it asks the model again",
  hook_result: "the effect of a hook",
  user_message: "a message that the user added to a running response",
  done: "usage, status and metadata of the response; the last event",
};

const changes: Readonly<Record<ConversationChangeKind, string>> = {
  response_started: "a response runs",
  approval_waiting: "a call waits for an approval",
  approval_decided: "no call waits for that approval any more",
  question_waiting: "the model asked the user a question",
  response_ended: "a response ended; `ended` has its status",
  conversation_changed: "anything else of the list changed, such as the title",
};

const reasons: Readonly<Record<FinishReason, string>> = {
  end_turn: "`completed`: the model ended its answer",
  clarification: "`completed`: the model asks questions",
  refusal: "`error`: the model refused to answer",
  cancelled: "`error`: a user or a signal ended it",
  max_tokens: "`error`: the model's token limit cut the answer",
  budget: "`error`: a budget is used up",
  error: "`error`: anything else; `errorCode` of the last document has the code",
};

/** Number of a source file's constant. */
type Limit = readonly [file: string, constant: string, unit: "bytes" | "ms" | "", meaning: string];

const limits: readonly Limit[] = [
  ["cli/src/standard-input", "MAX_BYTES", "bytes", "stdin as a prompt"],
  ["cli/src/standard-input", "SILENCE_MS", "ms", "wait for the first byte of a pipe beside a prompt"],
  ["cli/src/commands/import", "MAX_BYTES", "bytes", "a file for `sheaf import`"],
  ["agent/src/config/config-file", "MAX_BYTES", "bytes", "the configuration"],
  ["agent/src/run/prompts/instructions", "MAX_TOTAL_BYTES", "bytes", "instruction files of a repository, together"],
  ["base/src/files/attachment", "MAX_ATTACHMENTS", "", "attached files of a message"],
  ["base/src/files/attachment", "MAX_IMAGE_BYTES", "bytes", "an attached image"],
  ["base/src/files/attachment", "MAX_ATTACHED_BYTES", "bytes", "a PDF, and all attached files of a message"],
  ["base/src/files/attachment", "MAX_TEXT_BYTES", "bytes", "attached texts of a message, together"],
  ["agent/src/run/model-turn", "MAX_ANSWER", "", "characters of one answer of a model"],
  ["agent/src/tools/result-budget", "maxResultBytes", "bytes", "one result of a tool, as the model sees it"],
  ["agent/src/tools/result-budget", "maxTurnBytes", "bytes", "all results of a turn, as the model sees them"],
  ["agent/src/workspace/whole-output", "maxLineLength", "", "characters of a line, as the model sees it"],
  ["agent/src/tools/read-file", "DEFAULT_LINES", "", "lines of one `read_file`"],
  ["agent/src/tools/text-file", "MAX_TEXT_FILE_BYTES", "bytes", "a file that tools change"],
  ["agent/src/tools/list-dir", "maxEntries", "", "entries of one `list_dir`"],
  ["agent/src/tools/glob-search", "maxFiles", "", "paths of one `glob_search`"],
  ["agent/src/tools/grep-search", "maxResults", "", "results of one `grep_search`"],
  ["agent/src/tools/grep-search", "maxDuration", "ms", "time of one `grep_search`"],
  ["agent/src/tools/run-terminal-cmd", "defaultTimeoutMs", "ms", "time of a command, unless the model asks for more"],
  ["agent/src/tools/run-terminal-cmd", "maxTimeoutMs", "ms", "time of a command that the model can ask for"],
  ["agent/src/tools/background-commands", "maxRunning", "", "background commands at the same time"],
  ["agent/src/tools/web-fetch", "MAX_OUTPUT_BYTES", "bytes", "text of one `web_fetch`"],
  ["agent/src/tools/mcp/tool-server", "START_SECONDS", "", "seconds for a tool server to start"],
  ["agent/src/tools/mcp/tool-server", "CALL_SECONDS", "", "seconds for a call of a tool server"],
  ["agent/src/tools/mcp/tool-server", "MAX_TOOLS", "", "tools of a tool server"],
  ["agent/src/assemble/run-mcp-login", "LOGIN_MS", "ms", "a login to a tool server"],
  ["agent/src/run/agents/agent-kinds", "DEFAULT_TURNS", "", "turns of a subagent, unless its definition has more"],
  ["agent/src/config/hook-settings", "MAX_TIMEOUT", "", "seconds of a hook"],
  ["agent/src/run/run-hooks", "MAX_CONTINUED", "", "times in a row that a `Stop` hook continues a run"],
  ["agent/src/run/schema-thread", "LIMIT_MS", "ms", "check of an answer by `--output-schema`"],
  ["server/src/json-body", "maxBody", "bytes", "the body of a request, without attached files"],
  ["server/src/listen", "MAX_HEADER", "bytes", "the headers of a request"],
  ["server/src/request-rules", "MAX_URL", "", "characters of an address"],
  ["server/src/pending-approvals", "EXPIRES_MS", "ms", "an approval of the API waits"],
  ["cli/src/interactive/approval-menu", "EXPIRES_AFTER_MS", "ms", "an approval in a terminal waits"],
  ["cli/src/acp/editor-approver", "EXPIRES_AFTER_MS", "ms", "an approval in an editor waits"],
  ["documents/src/payload-limits", "maxFinalContent", "bytes", "`finalContent` of `document_end`"],
];

/** Tables by the name of their block. */
export const referenceTables: Readonly<Record<string, () => string>> = {
  errors: () =>
    formatTable(
      ["`errorCode`", "exit code", "HTTP status", "same call may work later", "what to do"],
      (Object.keys(errorTable) as ErrorCode[]).map((code) => {
        const { exitCode, httpStatus, retryable } = errorTable[code];
        return [`\`${code}\``, `${exitCode}`, `${httpStatus}`, retryable ? "yes" : "no", remedies[code]];
      }),
    ),
  "request-errors": () =>
    formatTable(
      ["`errorCode`", "HTTP status"],
      [...readSource("server/src/http-error").matchAll(/^ {2}([A-Z_]+): (\d{3}),$/gm)].map(([, code, status]) => [
        `\`${code}\``,
        status!,
      ]),
    ),
  flags: formatFlags,
  routes: () =>
    formatTable(
      ["route", "effect", "statuses"],
      Object.entries(operations).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { summary, answers, errors = [] }]) => [
          `\`${method.toUpperCase()} ${path}\``,
          summary,
          [...Object.keys(answers), ...errors].join(", "),
        ]),
      ),
    ),
  "stream-events": () => formatMeanings("event", events),
  "conversation-events": () => formatMeanings("`changes`", changes),
  "finish-reasons": () => formatMeanings("`finishReason`", reasons),
  limits: () =>
    formatTable(
      ["limit", "value"],
      limits.map(([file, constant, unit, meaning]) => [meaning, formatNumber(readNumber(file, constant), unit)]),
    ),
};

function formatMeanings(head: string, meanings: Readonly<Record<string, string>>): string {
  return formatTable(
    [head, "meaning"],
    Object.entries(meanings).map(([name, meaning]) => [`\`${name}\``, meaning]),
  );
}

/** One row for each flag and help; a flag that two commands explain in different ways has two. */
function formatFlags(): string {
  const rows = new Map<string, { readonly cells: readonly string[]; readonly commands: string[] }>();
  for (const command of ["prompt", ...commandNames] as const) {
    for (const { usage, help } of parseFlags(commandDefinitions[command].flags ?? {})) {
      const cells = [`\`${usage}\``, help].map((cell) => cell.replaceAll("|", String.raw`\|`));
      const row = rows.get(cells.join()) ?? { cells, commands: [] };
      row.commands.push(command === "prompt" ? "`-p`" : `\`${command}\``);
      rows.set(cells.join(), row);
    }
  }
  const own = [...rows.values()].map(({ cells, commands }) => [...cells, commands.join(", ")]);
  const common = parseFlags(commonFlags).map(({ usage, help }) => [`\`${usage}\``, help, "all"]);
  const toName = ([usage = ""]: readonly string[]): string => /--[\w-]+/.exec(usage)?.[0] ?? usage;
  const sorted = [...common, ...own].toSorted((one, other) => toName(one).localeCompare(toName(other), "en"));
  return formatTable(["flag", "effect", "commands"], sorted);
}

function readSource(file: string): string {
  return readFileSync(join(packages, `${file}.ts`), "utf8");
}

/** The value of `const NAME = 16 * 1024;` in a file. */
function readNumber(file: string, constant: string): number {
  const [, factors] = new RegExp(`^(?:export )?const ${constant} = ([\\d_.* ]+);`, "m").exec(readSource(file)) ?? [];
  if (factors === undefined) throw new Error(`${file}.ts has no number ${constant}`);
  return factors.split("*").reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1);
}

function formatNumber(value: number, unit: Limit[2]): string {
  if (unit === "ms") return value % 60_000 === 0 ? `${value / 60_000} min` : `${value / 1000} s`;
  if (unit === "" || value % 1024 !== 0) return `${value.toLocaleString("en-US")}${unit === "" ? "" : ` ${unit}`}`;
  return value < 1024 ** 2 ? `${value / 1024} KiB` : `${value / 1024 ** 2} MiB`;
}

export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
