/** A conversation of real tool calls on real files, in a store of its own. */
import type { RunEvent } from "@sheaf/protocol";
import { openConversation } from "../../../src/run/conversations/open-conversation.ts";
import {
  type BranchRequest,
  revertConversation,
  type RevertRequest,
  type RevertResult,
  showBranch,
} from "../../../src/run/conversations/revert.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { Store } from "@sheaf/store/store";
import { createToolBox } from "../../../src/tools/tool-box.ts";
import type { ToolOutcome } from "../../../src/tools/tool.ts";
import { createUndoPorts } from "../../../src/run/conversations/undo-ports.ts";
import { createRunUndo } from "../../../src/workspace/undo/run-undo.ts";
import { start } from "../fake-ports.ts";
import {
  createTemporaryFolder,
  createTemporaryWorkspace,
  type TemporaryWorkspace,
} from "../../../../base/test/files/temporary-workspace.ts";
import { createPolicy } from "../../../../permissions/test/policy.ts";
import { playCommands } from "../../tools/ended-command.ts";

export type Call = readonly [toolName: string, args: Record<string, unknown>];

export interface ToolSession extends TemporaryWorkspace {
  readonly store: Store;
  readonly dataFolder: string;
  /** One response of these calls. */
  readonly respond: (responseId: string, calls: readonly Call[]) => Promise<ToolOutcome[]>;
  readonly revert: (responseId?: string, onConflict?: RevertRequest["onConflict"]) => Promise<RevertResult>;
  /** Shows the branch that ends with this response; undefined: an empty one. */
  readonly show: (responseId: string | undefined, request?: Partial<BranchRequest>) => Promise<RevertResult>;
}

/** `afterEdit`: what the user's command after an edit does. */
export function createToolSession(afterEdit?: (root: string) => void): ToolSession {
  const temporary = createTemporaryWorkspace();
  const dataFolder = createTemporaryFolder();
  const store = createSqliteStore(":memory:");
  const { workspace, root } = temporary;

  const respond: ToolSession["respond"] = async (responseId, calls) => {
    const { state } = await openConversation(store, "conv_1", Date.now);
    const git = { program: "/usr/bin/git", environment: {} };
    const ids = { conversationId: "conv_1", responseId };
    const undo = createRunUndo({ folders: [root], dataFolder, git, ...ids, now: Date.now });
    const tools = createToolBox({
      workspace,
      commands: playCommands(() => {
        if (!afterEdit) throw new Error("no commands here");
        afterEdit(root);
        return {};
      }),
      search: () => Promise.reject(new Error("no searches here")),
      permissions: createPolicy({ allow: ["Shell(format)"] }),
      afterEdit: afterEdit && [{ glob: "*", command: "format {file}" }],
      state,
      undo,
      mode: "agent",
    });
    await store.createResponse({ id: responseId, conversationId: "conv_1", workspace: root, title: "", createdAt: 1 });
    let seq = 0;
    const append = (event: object): Promise<void> =>
      store.appendEvents(responseId, [{ ...event, seq: (seq += 1), time: 1 } as RunEvent], "grouped");
    await append({ type: "run_start", ...start, responseId, workspace: root, prompt: responseId });
    const outcomes: ToolOutcome[] = [];
    for (const [place, [toolName, args]] of calls.entries()) {
      const callId = `call_${responseId}_${place}`;
      const { signal } = new AbortController();
      const outcome = await tools.execute(
        { callId, toolName, arguments: args },
        { signal, emitOutput: () => undefined },
      );
      outcomes.push(outcome);
      await append({ type: "tool_result", callId, ...outcome, durationMs: 0 });
    }
    await undo.end();
    await append({ type: "run_end", reason: "end_turn" });
    return outcomes;
  };

  const conversation = { conversationId: "conv_1", onConflict: "refuse" } as const;
  const createPorts = () => createUndoPorts({ store, conversationId: "conv_1", dataFolder, environment: {} });
  return {
    ...temporary,
    store,
    dataFolder,
    respond,
    revert: (responseId, onConflict = "refuse") =>
      revertConversation({ ...conversation, responseId, onConflict }, createPorts()),
    show: (responseId, request) =>
      showBranch({ ...conversation, ...request }, createPorts(), (all) => all.find(({ id }) => id === responseId)),
  };
}

export const write = (path: string, content: string): Call => ["write_file", { target_file: path, content }];
export const remove = (path: string): Call => ["delete_file", { target_file: path }];
export const move = (from: string, to: string): Call => ["rename_file", { source_file: from, destination_file: to }];
export const replace = (path: string, from: string, to: string): Call => [
  "edit_file",
  { target_file: path, edits: [{ old_string: from, new_string: to }] },
];
