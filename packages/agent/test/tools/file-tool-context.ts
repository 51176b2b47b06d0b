/** What file tools work with in tests: real files, an empty state, and no way to a command. */
import { expect } from "vitest";
import type { FileChange, ReadEffect } from "@sheaf/protocol";
import { createBackgroundCommands } from "../../src/tools/background-commands.ts";
import type { CommandRunner } from "@sheaf/sandbox/command";
import { createToolState } from "../../src/tools/tool-state.ts";
import type { ToolContext, ToolOutcome } from "../../src/tools/tool.ts";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../../base/test/files/temporary-workspace.ts";

export interface FileToolContext extends TemporaryWorkspace {
  readonly context: ToolContext;
}

export function createFileToolContext(signal: AbortSignal = new AbortController().signal): FileToolContext {
  const temporary = createTemporaryWorkspace();
  const commands: CommandRunner = {
    run: () => Promise.reject(new Error("a file tool started a command")),
    permissions: [],
    end: async () => undefined,
  };
  const context: ToolContext = {
    workspace: temporary.workspace,
    commands,
    search: () => Promise.reject(new Error("a file tool searched")),
    background: createBackgroundCommands(commands),
    state: createToolState(),
    mode: "agent",
    callId: "call_1",
    signal,
    emitOutput: () => undefined,
  };
  return { ...temporary, context };
}

/** The one change of a successful outcome. */
export function toChange(outcome: ToolOutcome): FileChange {
  expect(outcome).toMatchObject({ status: "success", effect: { kind: "file_edit" } });
  if (outcome.effect?.kind !== "file_edit") throw new Error("no file was changed");
  expect(outcome.effect.changes).toHaveLength(1);
  return outcome.effect.changes[0]!;
}

/** The effect of a successful read. */
export function toReadEffect(outcome: ToolOutcome): ReadEffect {
  expect(outcome).toMatchObject({ status: "success", effect: { kind: "read" } });
  if (outcome.effect?.kind !== "read") throw new Error("nothing was read");
  return outcome.effect;
}
