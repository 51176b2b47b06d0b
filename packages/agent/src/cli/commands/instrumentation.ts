/** `sheaf instrumentation`: lines that debug mode left in this workspace; `--remove` takes them out. */
import { createConfig } from "../../config/config.ts";
import { toBareId } from "../../output/result-line.ts";
import { toVisibleLine } from "../../output/visible-text.ts";
import { createCheckpoints } from "../../workspace/checkpoints.ts";
import { createWorkspace } from "../../workspace/workspace.ts";
import { createStore } from "../../assemble/wire.ts";
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags, toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import {
  findLeftInstrumentation,
  removeLeftInstrumentation,
  type LeftInstrumentation,
} from "../left-instrumentation.ts";
import { printText } from "../print-text.ts";
import { checkNoWords } from "../words.ts";

/**
 * Lists them, or takes them out. Those of a session that waits for an answer stay unless `--force` says otherwise.
 * Gives 1 when a block could not be taken out, for it lost one of its marks or its file cannot be written.
 * @throws SheafError USAGE, CONVERSATION_BUSY, STORAGE_….
 */
export async function runInstrumentation(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  checkNoWords(parsed);
  const { flags } = parsed;
  const format = toCommandFormat(parsed);
  const config = createConfig({ workspace: flags.workspace?.at(-1) }, io.environment, io.cwd);
  const workspace = createWorkspace(config.workspace);
  const store = await createStore(config.storeFile);
  const ports = { store, workspace, now: Date.now };
  try {
    const found = await findLeftInstrumentation(ports);
    if (!flags.remove)
      return await printText(format === "json" ? formatJson(found) : formatList(found, config.workspace));
    const wanted = found.filter(({ status }) => status === "left" || (status === "question" && flags.force));
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
  } finally {
    await store.close();
  }
}

/** For one conversation. Milliseconds. */
const REMOVE_MS = 30_000;

function formatJson(found: readonly LeftInstrumentation[]): string {
  const rows = found.map(({ conversationId, status, blocks }) => ({
    session_id: toBareId(conversationId),
    status,
    blocks: blocks.map(({ id, filePath }) => ({ id, file: filePath })),
  }));
  return `${JSON.stringify(rows, undefined, 2)}\n`;
}

const reasons: Readonly<Record<LeftInstrumentation["status"], string>> = {
  left: "left by a run that did not end; take it out with --remove",
  running: "a response is running; it takes its own lines out",
  question: "waits for an answer; take it out with --remove --force",
};

function formatList(found: readonly LeftInstrumentation[], workspace: string): string {
  if (found.length === 0) return `No instrumentation is left in ${toVisibleLine(workspace)}.\n`;
  const lines = found.flatMap(({ conversationId, status, blocks }) => [
    `${toBareId(conversationId)}  ${reasons[status]}`,
    ...blocks.map(({ id, filePath }) => `  ${toVisibleLine(filePath)}  ${id}`),
  ]);
  return lines.map((line) => `${line}\n`).join("");
}
