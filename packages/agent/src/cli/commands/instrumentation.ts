/** `sheaf instrumentation`: lines that debug mode left in this workspace; `--remove` takes them out. */
import type { InstrumentationBlock } from "@sheaf/protocol";
import { SheafError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printJson, printText } from "../standard-output.ts";
import { toBareId } from "../../output/result-line.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { openConversation, type OpenConversation } from "../../run/conversations/open-conversation.ts";
import type { Store } from "../../store/store.ts";
import { removeBlocks } from "../../tools/instrumentation-blocks.ts";
import { takeOutBlocks } from "../../tools/remove-instrumentation.ts";
import { loadTextFile } from "../../tools/text-file.ts";
import { createCheckpoints, type Checkpoints } from "../../workspace/checkpoints.ts";
import { createWorkspace, type Workspace } from "../../workspace/workspace.ts";

/**
 * Lists them, or takes them out. Those of a session that waits for an answer stay unless `--all` is given.
 * Gives 1 when a block could not be taken out, for it lost one of its marks or its file cannot be written.
 * @throws SheafError USAGE, CONVERSATION_BUSY, STORAGE_….
 */
export async function runInstrumentation(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags } = parsed;
  const format = toCommandFormat(parsed);
  return withSessionStore(io, flags.workspace?.at(-1), async (store, config) => {
    const ports = {
      store,
      workspace: createWorkspace(config.workspace, { git: { environment: io.environment, folders: [] } }),
      now: Date.now,
    };
    const found = await findLeftInstrumentation(ports);
    if (!flags.remove)
      return format === "json" ? printJson(toRows(found)) : printText(formatList(found, config.workspace));
    const wanted = found.filter(({ status }) => status === "left" || (status === "question" && flags.all));
    const rest = found.filter((left) => !wanted.includes(left));
    let isClean = true;
    const lines: string[] = [];
    for (const left of wanted) {
      const checkpoints = createCheckpoints(config.dataFolder, left.conversationId);
      const signal = AbortSignal.timeout(REMOVE_MS);
      const removed = await removeLeftInstrumentation(left, { ...ports, checkpoints, signal });
      isClean &&= removed.isClean;
      lines.push(...removed.lines.map((line) => `${toVisibleLine(line)}\n`));
    }
    if (lines.length === 0 || rest.length > 0) lines.push(formatList(rest, config.workspace));
    const code = await printText(lines.join(""));
    return isClean ? code : 1;
  });
}

/** For one conversation. Milliseconds. */
const REMOVE_MS = 30_000;

function toRows(found: readonly LeftInstrumentation[]) {
  return found.map(({ conversationId, status, blocks }) => ({
    session_id: toBareId(conversationId),
    status,
    blocks: blocks.map(({ id, filePath }) => ({ id, file: filePath })),
  }));
}

const reasons: Readonly<Record<LeftInstrumentation["status"], string>> = {
  left: "left by a run that did not end; remove it with --remove",
  running: "a response is running; it takes its own lines out",
  question: "waits for an answer; remove it with --remove --all",
};

function formatList(found: readonly LeftInstrumentation[], workspace: string): string {
  if (found.length === 0) return `No instrumentation is left in ${toVisibleLine(workspace)}.\n`;
  const lines = found.flatMap(({ conversationId, status, blocks }) => [
    `${toBareId(conversationId)}  ${reasons[status]}`,
    ...blocks.map(({ id, filePath }) => `  ${toVisibleLine(filePath)}  ${id}`),
  ]);
  return lines.map((line) => `${line}\n`).join("");
}

/** What one conversation left. */
export interface LeftInstrumentation {
  readonly conversationId: string;
  readonly blocks: readonly InstrumentationBlock[];
  /** `running`: a response is being written. `question`: it waits for an answer, and needs the lines then. */
  readonly status: "left" | "running" | "question";
}

interface LeftPorts {
  readonly store: Store;
  readonly workspace: Workspace;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Blocks whose marks are in files, conversation by conversation. What a dead process left open is ended first. */
export async function findLeftInstrumentation(ports: LeftPorts): Promise<readonly LeftInstrumentation[]> {
  const { store, workspace } = ports;
  const conversations = await store.listConversations({ limit: Number.MAX_SAFE_INTEGER, workspace: workspace.root });
  const found: LeftInstrumentation[] = [];
  for (const { id } of conversations) {
    const left = await findInConversation(id, ports);
    if (left) found.push(left);
  }
  return found;
}

async function findInConversation(
  conversationId: string,
  { store, workspace, now }: LeftPorts,
): Promise<LeftInstrumentation | undefined> {
  const responses = await store.listResponses(conversationId);
  // Only the beginning of each log is read where there was no debug mode.
  const starts = await Promise.all(responses.map(({ id }) => store.readEvents(id, 0, 1)));
  if (!starts.some(([start]) => start?.type === "run_start" && start.mode === "debug")) return undefined;
  const conversation = await openUnlessBusy(store, conversationId, now);
  if (!conversation) return { conversationId, blocks: [], status: "running" };
  const blocks = await findStanding(conversation, workspace);
  if (blocks.length === 0) return undefined;
  const last = responses.findLast(({ reverted }) => !reverted);
  const end = last && (await store.readEvents(last.id)).at(-1);
  const isAsking = end?.type === "run_end" && end.reason === "clarification";
  return { conversationId, blocks, status: isAsking ? "question" : "left" };
}

async function openUnlessBusy(
  store: Store,
  conversationId: string,
  now: () => number,
): Promise<OpenConversation | undefined> {
  try {
    return await openConversation(store, conversationId, now);
  } catch (error) {
    if (error instanceof SheafError && error.code === "CONVERSATION_BUSY") return undefined;
    throw error;
  }
}

/** Somebody may have taken lines out by hand. */
async function findStanding(
  { state }: OpenConversation,
  workspace: Workspace,
): Promise<readonly InstrumentationBlock[]> {
  const standing: InstrumentationBlock[] = [];
  for (const block of state.instrumentation) {
    const resolved = workspace.resolve(block.path);
    if (!resolved.ok) continue;
    state.fileHashes.delete(resolved.path.absolute);
    const file = await loadTextFile({ workspace, state }, resolved.path);
    const isThere = file.ok && file.value && removeBlocks(file.value.text, [block.id]).missing.length === 0;
    if (isThere) standing.push(block);
  }
  return standing;
}

/** What became of one conversation's blocks. */
export interface RemovedInstrumentation {
  /** One for each file. */
  readonly lines: readonly string[];
  /** Whether nothing is left. */
  readonly isClean: boolean;
}

/** Takes out what a conversation left. @throws SheafError CONVERSATION_BUSY. */
export async function removeLeftInstrumentation(
  { conversationId }: LeftInstrumentation,
  ports: LeftPorts & { readonly checkpoints: Checkpoints; readonly signal: AbortSignal },
): Promise<RemovedInstrumentation> {
  const { store, workspace, checkpoints, signal, now } = ports;
  const { state } = await openConversation(store, conversationId, now);
  const release = await store.lockConversation(conversationId);
  try {
    const { output, error } = await takeOutBlocks(state.instrumentation, { workspace, state, checkpoints, signal });
    return { lines: output.split("\n"), isClean: error === undefined };
  } finally {
    await release?.();
  }
}
