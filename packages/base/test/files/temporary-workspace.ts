/** Folders and workspaces of real files, gone at the end of their test. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { createWorkspace, type Workspace, type WorkspacePath } from "../../src/files/workspace.ts";

export interface TemporaryWorkspace {
  readonly workspace: Workspace;
  /** Of the workspace. */
  readonly root: string;
  /** A folder beside it, for what must not be reached. */
  readonly outside: string;
  /** Writes a file below the root and gives its absolute path. */
  readonly write: (path: string, content: string | Uint8Array) => string;
  /** As text. */
  readonly read: (path: string) => string;
  /** A path that must be accepted. */
  readonly path: (path: string) => WorkspacePath;
}

/** An empty folder. `atEnd`: `afterAll` keeps it for all tests of a file. */
export function createTemporaryFolder(parent = tmpdir(), atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(parent, "sheaf-test-")));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function createTemporaryWorkspace(): TemporaryWorkspace {
  const base = createTemporaryFolder();
  const root = join(base, "w");
  const outside = join(base, "w-evil");
  mkdirSync(root);
  mkdirSync(outside);
  const workspace = createWorkspace(root);
  return {
    workspace,
    root,
    outside,
    write(path, content) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    path(path) {
      const resolved = workspace.resolve(path);
      if (!resolved.ok) throw new Error(`${path}: ${resolved.error.message}`);
      return resolved.path;
    },
  };
}
