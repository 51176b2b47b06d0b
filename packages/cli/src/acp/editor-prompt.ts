/** One prompt of an editor: a run, or a command with a slash. */
import {
  methods,
  type AgentContext,
  type ClientCapabilities,
  type PromptRequest,
  type PromptResponse,
  type ContentBlock,
} from "@agentclientprotocol/sdk/unstable";
import type { RunEnd, RunStart } from "@sheaf/protocol";
import type { ToolServers } from "@sheaf/agent/assemble/wire-servers";
import { SheafError } from "@sheaf/base/errors";
import type { McpServers } from "@sheaf/agent/config/mcp-settings";
import { createOutputMask } from "@sheaf/agent/output/event-mask";
import { createAcpProjection, toStopReason } from "@sheaf/agent/output/acp-updates";
import type { ConversationSettings } from "@sheaf/store/store";
import type { FlagValues } from "../flags.ts";
import { listOwnCommands, type OwnCommand } from "../own-commands.ts";
import { runSlashCommand } from "../interactive/run-slash-command.ts";
import { isEditorCommand, parseSlashLine } from "../interactive/slash-commands.ts";
import type { CommandIo } from "../io.ts";
import { createPromptRun } from "../prompt-run.ts";
import { toConfig } from "../run-config.ts";
import { createEditorApprover } from "./editor-approver.ts";
import { toEditorFiles } from "./files-of-editor.ts";
import { toRequestError } from "./request-errors.ts";
import { readSpentUsd } from "./stored-sessions.ts";
import { toFence } from "@sheaf/base/to-fence";
import { toMessageAttachments, type NamedBytes } from "@sheaf/base/files/attachment";

/** A session that the editor has open. */
export interface OpenSession {
  /** Flags of the command line, with the session's own settings. */
  flags: FlagValues;
  /** Settings of the session in the store, as this program saw them last. */
  known: ConversationSettings;
  /** Servers of the Model Context Protocol that the editor brought. */
  readonly mcpServers: McpServers;
  /** Prompts of tool servers, as soon as a response has started these. */
  serverCommands: readonly OwnCommand[];
  /** The running prompt, if any. */
  running: RunningPrompt | undefined;
  /** Prompts that the running answer gets (C240). */
  readonly added: AddedPrompt[];
}

interface RunningPrompt {
  readonly controller: AbortController;
  readonly response: Promise<PromptResponse>;
}

interface AddedPrompt {
  readonly message: Message;
  isTold: boolean;
}

/** The editor that asks, and the ports of its prompts. */
interface PromptPorts {
  readonly client: AgentContext;
  readonly editor: ClientCapabilities;
  readonly signal: AbortSignal;
  readonly io: CommandIo;
  /** Tool servers of all sessions. */
  readonly toolServers: ToolServers;
}

export function cancelPrompt(session: OpenSession | undefined): void {
  session?.running?.controller.abort(createCancelError());
}

function createCancelError(): SheafError {
  return new SheafError("CANCELLED", "cancelled by the editor", { source: "user" });
}

/** Runs a prompt. A session runs one prompt at a time; the running answer may get another one (C240). */
export async function runEditorPrompt(
  session: OpenSession,
  request: PromptRequest,
  ports: PromptPorts,
): Promise<PromptResponse> {
  const { running } = session;
  if (!running) {
    const controller = new AbortController();
    const response = runPrompt(session, request, ports, controller);
    session.running = { controller, response };
    return response.finally(() => (session.running = undefined));
  }
  const { _meta: extra } = request;
  if (extra?.["whenBusy"] !== "steer") {
    const message = `a prompt of the session ${request.sessionId} runs: wait for its end, cancel it, or send "_meta": {"whenBusy": "steer"}`;
    throw new SheafError("CONVERSATION_BUSY", message);
  }
  const added = { message: toPromptMessage(request.prompt), isTold: false };
  session.added.push(added);
  const end = await running.response.catch((error: unknown) => {
    if (added.isTold) throw error;
    return undefined;
  });
  if (added.isTold && end) return end;
  session.added.splice(session.added.indexOf(added), 1);
  if (end?.stopReason === "cancelled" || ports.signal.aborted) return { stopReason: "cancelled" };
  return runEditorPrompt(session, request, ports);
}

async function runPrompt(
  session: OpenSession,
  { sessionId, prompt }: PromptRequest,
  { client, editor, signal, io, toolServers }: PromptPorts,
  controller: AbortController,
): Promise<PromptResponse> {
  const onAbort = (): void => controller.abort(createCancelError());
  signal.addEventListener("abort", onAbort, { once: true });
  const run = (message: Message): Promise<RunEnd | undefined> =>
    runMessage(message, session, sessionId, { client, editor, signal: controller.signal, io, toolServers });
  try {
    const [first] = prompt;
    const listOwn = () => listOwnCommands(toConfig(session.flags, io), io);
    const slash = prompt.length === 1 && first?.type === "text" ? parseSlashLine(first.text, listOwn) : undefined;
    if (!slash) return toPromptResponse(await run(toPromptMessage(prompt)));
    return await runSlashLine(slash, session, sessionId, { client, run, io });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

type Message = Pick<RunStart, "prompt" | "attachments" | "shortens">;

/** Runs a message, and sends each update after its event is stored. */
async function runMessage(
  message: Message,
  session: OpenSession,
  sessionId: string,
  { client, editor, signal, io, toolServers }: PromptPorts,
): Promise<RunEnd | undefined> {
  const controller = new AbortController();
  const run = createPromptRun({
    message,
    config: toConfig(session.flags, io),
    flags: { ...session.flags, "include-thinking": true },
    io,
    mcpServers: session.mcpServers,
    toolServers,
    control: { signal: AbortSignal.any([signal, controller.signal]), abort: (reason) => controller.abort(reason) },
    approver: createEditorApprover({ client, sessionId, editor, profile: io.dialect.profile }),
    takeMessage: async () => {
      const added = session.added.shift();
      if (!added) return undefined;
      added.isTold = true;
      const { prompt, attachments } = added.message;
      return { message: prompt, ...(attachments && { attachments }) };
    },
    editor: toEditorFiles(client, sessionId, editor),
  });
  const projection = createAcpProjection({ spentUsd: await readSpentUsd(sessionId, io) });
  const mask = createOutputMask(io.environment);
  let end: RunEnd | undefined;
  for await (const events of run.events()) {
    for (const event of events.flatMap(mask)) {
      if (event.type === "run_end") end = event;
      for (const update of projection.push(event)) {
        await client.notify(methods.client.session.update, { sessionId, update });
      }
    }
  }
  await run.close();
  return end;
}

interface SlashPorts extends Pick<PromptPorts, "client" | "io"> {
  readonly run: (message: Message) => Promise<RunEnd | undefined>;
}

/** Runs a slash command; its output is a message of the agent. An unknown command costs no request. */
async function runSlashLine(
  slash: NonNullable<ReturnType<typeof parseSlashLine>>,
  session: OpenSession,
  sessionId: string,
  { client, run, io }: SlashPorts,
): Promise<PromptResponse> {
  const texts: string[] = [];
  let end: RunEnd | undefined;
  if (slash.kind === "unknown") texts.push(slash.message);
  else if (!isEditorCommand(slash.name)) texts.push(`/${slash.name} is a command of the terminal.`);
  else {
    const state = {
      flags: session.flags,
      session: sessionId,
      print: (text: string) => void texts.push(text),
      shorten: async () => void (end = await run({ prompt: "", shortens: true })),
      chooseRevert: (conflict: SheafError) => {
        texts.push(`${conflict.message} (here /revert leave, /revert overwrite)`);
        return Promise.resolve(undefined);
      },
    };
    await runSlashCommand(slash, state, io);
    session.flags = state.flags;
  }
  if (texts.length > 0) {
    const content = { type: "text", text: texts.join("") } as const;
    const update = { sessionUpdate: "agent_message_chunk", content } as const;
    await client.notify(methods.client.session.update, { sessionId, update });
  }
  return end ? toPromptResponse(end) : { stopReason: "end_turn" };
}

function toPromptResponse(end: RunEnd | undefined): PromptResponse {
  const stopReason = end && toStopReason(end);
  if (stopReason) return { stopReason };
  const { code = "INTERNAL", message = "the run has no end", retryable = false } = end?.error ?? {};
  throw toRequestError({ code, message, retryable });
}

/**
 * Returns the message: text unchanged, links by name and address, embedded text in full, other files attached.
 * @throws SheafError USAGE for audio, and for a file that no message may have (N65, N126).
 */
export function toPromptMessage(content: readonly ContentBlock[]): Pick<RunStart, "prompt" | "attachments"> {
  const texts: string[] = [];
  const files: NamedBytes[] = [];
  for (const block of content) {
    const file = toFile(block, files.length + 1);
    if (file) files.push(file);
    else texts.push(toBlockText(block));
  }
  const prompt = texts.join("\n\n");
  return files.length === 0 ? { prompt } : { prompt, attachments: toMessageAttachments(files) };
}

/** Returns the bytes of an image or embedded file; Sheaf never reads from an address (S-102). */
function toFile(block: ContentBlock, number: number): NamedBytes | undefined {
  if (block.type === "image") {
    return { name: block.uri || `image ${number}`, bytes: Buffer.from(block.data, "base64"), isText: false };
  }
  if (block.type !== "resource" || !("blob" in block.resource)) return undefined;
  return { name: block.resource.uri, bytes: Buffer.from(block.resource.blob, "base64") };
}

function toBlockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return "";
      const fence = toFence(resource.text);
      return `${resource.uri}\n${fence}\n${resource.text}\n${fence}`;
    }
    default:
      throw new SheafError("USAGE", `a prompt holds ${block.type}: send text, images, links or embedded files`);
  }
}
