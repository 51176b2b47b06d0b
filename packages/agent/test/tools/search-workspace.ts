/** Workspaces of tests on disk, and the context in which tools run. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { createBackgroundCommands } from "../../src/tools/background-commands.ts";
import { createSandbox } from "@sheaf/sandbox/create-sandbox";
import { createSearchProgram } from "@sheaf/sandbox/launch/search-program";
import { runProgram } from "@sheaf/sandbox/programs";
import { createToolState } from "../../src/tools/tool-state.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { createWorkspace } from "@sheaf/base/files/workspace";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files; a path that ends in `/` is a folder. */
export function createFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-tools-")));
  folders.push(root);
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(root, path);
    mkdirSync(path.endsWith("/") ? absolute : dirname(absolute), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(absolute, content);
  }
  return root;
}

/** An empty folder for very many files: in memory where there is such a place, for disks take their time. */
export function createLargeFolder(): string {
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : realpathSync(tmpdir()), "sheaf-large-"));
  folders.push(root);
  return root;
}

/** A named pipe without a writer: who opens it waits. */
export async function createPipe(path: string): Promise<void> {
  const { exitCode } = await runProgram({
    file: "/usr/bin/mkfifo",
    args: [path],
    cwd: "/",
    environment: {},
    signal: new AbortController().signal,
    onStdout: () => true,
    maxStderrBytes: 0,
  });
  if (exitCode !== 0) throw new Error(`no pipe at ${path}`);
}

/** A context for tools in this folder. */
export function createContext(root: string, context: Partial<ToolContext> = {}): ToolContext {
  const commands = createSandbox({
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: root },
    writable: [root],
    sandbox: { state: "disabled" },
    network: createCommandNetwork({ allow: [], deny: [] }),
  });
  return {
    workspace: createWorkspace(root),
    commands,
    search: createSearchProgram({ sandbox: { state: "disabled" }, writable: [root], environment: {} }),
    background: createBackgroundCommands(commands),
    state: createToolState(),
    mode: "agent",
    callId: "call_1",
    signal: new AbortController().signal,
    emitOutput: () => undefined,
    ...context,
  };
}
