/** `sheaf hooks ls`, `trust` and `test`: commands of the user at events of a run (C85, C86). */
import { randomUUID } from "node:crypto";
import type { HookResult } from "@sheaf/protocol";
import { isJsonObject, parseJson } from "@sheaf/protocol/check-value";
import { preparePolicy, toCommandOptions } from "@sheaf/agent/assemble/prepare-policy";
import { openHooks } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import { hookEvents, isHookEvent } from "@sheaf/agent/config/hook-settings";
import { type Hook, readUserHooks, type UnusedHook } from "@sheaf/agent/config/read-hooks";
import { readWorkspaceHooks, type WorkspaceHooks } from "@sheaf/agent/config/workspace-hooks";
import { createSandbox } from "@sheaf/sandbox/create-sandbox";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { fromToolInput } from "@sheaf/agent/tools/hooks/hook-input";
import { describeTool, listToolNames, toOwnToolNames, toUnknownTool } from "@sheaf/agent/tools/registry";
import type { HookOccasion } from "@sheaf/agent/tools/hooks/hooks";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { readConfigFile, type RunConfig, toConfig } from "../run-config.ts";
import { printJson, printText } from "../standard-output.ts";
import { quoteVisible, runTrustContents, type Trustable, trustWords } from "./trust-contents.ts";

/** Runs the chosen action. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runHooks(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [action = "ls", ...words] = parsed.positionals;
  const config = toConfig(parsed.flags, io);
  readConfigFile(io);
  switch (action) {
    case "ls":
      return listHooks(parsed, io, config);
    case "trust":
      return trustHooks(parsed.flags, io, config, words);
    case "test":
      return testHooks(parsed, io, config, words);
    default:
      throw new SheafError("USAGE", `hooks "${action}" is unknown: use ls, trust or test`);
  }
}

interface ListedHook extends Pick<Hook, "command"> {
  readonly event: string;
  readonly matcher: string;
  /** `config`, or the path of the file. */
  readonly source: string;
  readonly runs: boolean;
  readonly sandbox: boolean;
  readonly timeout_seconds: number;
  /** The reason why a run ignores the hook. */
  readonly problem?: string;
}

async function listHooks(parsed: ParsedArguments, io: CommandIo, config: RunConfig): Promise<number> {
  const own = config.hooks ? readUserHooks(config.hooks) : { hooks: [], leftOut: [] };
  const trusted = config.findTrust();
  const files = trusted ? readWorkspaceHooks(config) : [];
  const rows = [
    ...own.hooks.map((hook) => toRow(hook)),
    ...own.leftOut.map(toUnusedRow),
    ...files.flatMap((file) => listFile(file)),
  ];
  if (toCommandFormat(parsed) === "json") return printJson(io, rows);
  const advice = trusted ? "" : "The workspace is not trusted: none of its hooks runs, if it has any.\n";
  const list = rows.map((row) => `${toVisibleLine(formatRow(row))}\n`).join("");
  return printText(io, `${list === "" ? "There are no hooks.\n" : list}${advice}`);
}

function listFile(file: WorkspaceHooks): ListedHook[] {
  if (file.state === "unusable") {
    return [toUnusedRow({ event: "", command: "", file: file.name, problem: file.problem })];
  }
  const problem = file.state === "trusted" ? undefined : `${trustWords[file.state]}: sheaf hooks trust`;
  return [...file.hooks.map((hook) => toRow(hook, problem)), ...file.leftOut.map(toUnusedRow)];
}

function toRow(
  { event, matcher, command, file = "config", isSandboxed, timeoutMs }: Hook,
  problem?: string,
): ListedHook {
  return {
    event,
    matcher,
    command,
    source: file,
    runs: problem === undefined,
    sandbox: isSandboxed,
    timeout_seconds: timeoutMs / 1000,
    ...(problem !== undefined && { problem }),
  };
}

function toUnusedRow({ event, command, file = "config", problem }: UnusedHook): ListedHook {
  return { event, matcher: "", command, source: file, runs: false, sandbox: true, timeout_seconds: 0, problem };
}

function formatRow({ event, matcher, command, source, sandbox, problem }: ListedHook): string {
  const kinds = matcher === "" || matcher === "*" ? "" : `(${matcher})`;
  const place = sandbox ? source : `${source}, outside the sandbox`;
  const head = [`${event}${kinds}`, command].filter((part) => part !== "").join("  ");
  return problem === undefined ? `${head}  [${place}]` : `${head}  [${place}] not run: ${problem}`;
}

function trustHooks(flags: FlagValues, io: CommandIo, config: RunConfig, names: readonly string[]): Promise<number> {
  const readEntries = (): Trustable[] =>
    readWorkspaceHooks(config).map((file) =>
      file.state === "unusable"
        ? file
        : { ...file, lines: [...file.hooks.map(describe), ...file.files.map(toFileLine)] },
    );
  const subject = { kind: "hooks", command: "hooks trust", noun: "file of hooks", source: config.workspace } as const;
  return runTrustContents(readEntries, subject, { names, flags, io, config });
}

function describe({ event, matcher, command, timeoutMs }: Hook): string {
  return `${event.padEnd(16)}  ${quoteVisible(command)} at ${quoteVisible(matcher === "" ? "*" : matcher)}, ${timeoutMs / 1000} s`;
}

/** Describes a file that hooks start. Its content is part of the approval. */
function toFileLine(file: string): string {
  return `runs the file ${quoteVisible(file)}`;
}

/** Runs an event's hooks as a run would, without a model. */
async function testHooks(
  parsed: ParsedArguments,
  io: CommandIo,
  config: RunConfig,
  [event = "", ...rest]: readonly string[],
): Promise<number> {
  const { flags } = parsed;
  if (!isHookEvent(event) || rest.length > 0) {
    throw new SheafError("USAGE", `hooks test takes one event: ${hookEvents.join(", ")}`);
  }
  const occasion = toOccasion(event, flags);
  const { environment } = io;
  const trusted = config.findTrust();
  const policy = await preparePolicy({ ...config, trusted, environment, sandboxMemory: undefined, now: Date.now });
  const commandOptions = toCommandOptions(policy, trusted, undefined);
  const commands = createSandbox(commandOptions);
  const { hooks, notices } = await openHooks({
    sources: config.hooks,
    trustedWorkspace: trusted ? config : undefined,
    session: { conversationId: `conv_${randomUUID()}`, permissionMode: "default", workspace: policy.workspace },
    commands,
    commandOptions,
    isServer: false,
    now: Date.now,
  });
  const results = (await hooks?.run(occasion, new AbortController().signal)) ?? [];
  await commands.end();
  await hooks?.end();
  if (toCommandFormat(parsed) === "json")
    return printJson(
      io,
      results.map(({ type: _type, ...result }) => result),
    );
  const lines = [
    ...notices.map(({ message }) => message),
    ...(results.length === 0 ? [formatNone(event, flags)] : results.flatMap(format)),
  ];
  return printText(io, lines.map((line) => `${toVisibleLine(line)}\n`).join(""));
}

/** Reports that no hook ran, with the tool's name: it may be misspelt. */
function formatNone(event: string, { tool }: FlagValues): string {
  return tool === undefined
    ? `No hook runs at ${event}.`
    : `No hook runs at ${event} of the tool ${tool} (sheaf hooks ls).`;
}

function format({ command, exitCode, durationMs, ...result }: HookResult): string[] {
  const { decision, reason, arguments: args, context, notice } = result;
  const parts = {
    decision: reason === undefined || reason === "" ? decision : `${decision}: ${reason}`,
    arguments: args && JSON.stringify(args),
    context,
    notice: notice?.message,
  };
  const told = Object.entries(parts).flatMap(([name, text]) => (text === undefined ? [] : [`  ${name}  ${text}`]));
  return [`${command}  exit code ${exitCode}, ${durationMs} ms`, ...told];
}

/** Makes the event. @throws SheafError USAGE for flags that don't match it. */
function toOccasion(event: (typeof hookEvents)[number], { tool, input }: FlagValues): HookOccasion {
  const fields = toFields(input);
  const isCall = event === "PreToolUse" || event === "PostToolUse";
  if (isCall !== (tool !== undefined)) {
    throw new SheafError("USAGE", isCall ? `${event} needs --tool NAME` : `--tool does not go with ${event}`);
  }
  const toText = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  switch (event) {
    case "PreToolUse":
    case "PostToolUse": {
      const toolName = toOwnToolNames(tool ?? "")[0];
      if (!describeTool(toolName) && !toolName.startsWith("mcp__"))
        throw new SheafError("USAGE", toUnknownTool(toolName, listToolNames()).error!.message);
      const call = { callId: "call_test", toolName, arguments: fromToolInput(toolName, fields) ?? {} };
      return event === "PreToolUse" ? { event, call } : { event, call, outcome: { status: "success", output: "" } };
    }
    case "UserPromptSubmit":
      return { event, prompt: toText("prompt") };
    case "SessionStart":
      return { event, source: toText("source") === "resume" ? "resume" : "startup" };
    case "Notification":
      return { event, kind: "permission_prompt", message: toText("message") };
    case "PreCompact":
      return { event, trigger: toText("trigger") === "manual" ? "manual" : "auto" };
    case "Stop":
      return { event, isContinued: fields["stop_hook_active"] === true, text: toText("last_assistant_message") };
    case "Verify":
    case "SessionEnd":
      return { event };
  }
}

/** Parses `--input`. @throws SheafError USAGE. */
function toFields(input = "{}"): Readonly<Record<string, unknown>> {
  const value = parseJson(input);
  if (isJsonObject(value)) return value;
  throw new SheafError("USAGE", `--input '${input}' is not a JSON object: write one as in '{"file_path": "a.txt"}'`);
}
