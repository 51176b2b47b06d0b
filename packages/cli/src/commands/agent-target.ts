/** `sheaf convert --to` the stream of another agent: its lines, and the fields of the answer that they can't hold. */
import { randomUUID } from "node:crypto";
import type { Projection } from "@sheaf/agent/output/projection";
import { createAssembler } from "@sheaf/documents";
import { createAgentStreamDecoder, findLostFields } from "@sheaf/documents/agent-streams";
import { reduce, type ChatResponse, type RunEvent } from "@sheaf/protocol";
import { createClaudeStream } from "../dialects/claude/lines.ts";
import { createCodexLines } from "../dialects/codex/lines.ts";
import type { CliDialect } from "../dialects/dialect.ts";
import type { FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { createChosenProjection } from "../output-choice.ts";

const writers = {
  "cursor-stream-json": { profile: "cursor-2026" },
  "claude-stream-json": { createLines: () => createClaudeStream({ isPartial: false }) },
  "codex-exec-json": { createLines: createCodexLines },
} as const satisfies Readonly<Record<string, Partial<CliDialect>>>;

export type AgentTarget = keyof typeof writers;

export const agentTargets = Object.keys(writers) as readonly AgentTarget[];

/** Creates the output. Call `findLost` after the last event: it reads the lines back. */
export async function createAgentTarget(
  to: AgentTarget,
  flags: FlagValues,
  io: CommandIo,
): Promise<{ readonly projection: Projection; readonly findLost: () => string[] }> {
  const { createLines: _, ...dialect } = io.dialect;
  const projection = await createChosenProjection("stream-json", flags, {
    ...io,
    dialect: { ...dialect, ...writers[to] },
  });
  const decoder = createAgentStreamDecoder(to, { newId: randomUUID, workspace: io.cwd });
  const log: RunEvent[] = [];
  const read: RunEvent[] = [];
  return {
    projection: {
      push(event) {
        const lines = projection.push(event);
        log.push(event);
        for (const line of lines) read.push(...decoder.push(line));
        return lines;
      },
    },
    findLost: () => findLostFields(toResponse(log), toResponse([...read, ...decoder.end()])),
  };
}

function toResponse(log: readonly RunEvent[]): ChatResponse {
  const assembler = createAssembler();
  return reduce(log.flatMap((event) => assembler.push(event)));
}
