/** Workspaces of tests on disk, and the context in which tools run. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createCommandRunner } from "../../src/sandbox/command-runner.ts";
import { createConversationState } from "../../src/tools/conversation-state.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";

/** A folder with these files; a path that ends in `/` is a folder. */
export function createFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-tools-")));
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(root, path);
    mkdirSync(path.endsWith("/") ? absolute : dirname(absolute), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(absolute, content);
  }
  return root;
}

/** An empty folder for very many files: in memory where there is such a place, for disks take their time. */
export function createLargeFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : realpathSync(tmpdir()), "sheaf-large-"));
}

/** A context for tools in this folder. */
export function createContext(root: string, context: Partial<ToolContext> = {}): ToolContext {
  return {
    workspace: createWorkspace(root),
    commands: createCommandRunner({ environment: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: root } }),
    state: createConversationState(),
    mode: "agent",
    callId: "call_1",
    signal: new AbortController().signal,
    emitOutput: () => undefined,
    ...context,
  };
}
