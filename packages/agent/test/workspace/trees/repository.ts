/** Repositories for tests of working trees, made with real git. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { GitSetup } from "@sheaf/base/git/run-git";
import { borrowObjects, listRemoteRefs, openMirror, toLocalRemote } from "../../../src/workspace/trees/mirror.ts";
import { createTree, type TreePlace, toTreePlace } from "../../../src/workspace/trees/working-tree.ts";
import { findRepository } from "@sheaf/base/files/repository";
import { createTemporaryFolder } from "../../../../base/test/files/temporary-workspace.ts";

export const gitProgram = "/usr/bin/git";

/** Git as its user runs it, without the settings of this machine. */
export function git(cwd: string, ...args: string[]): string {
  const environment = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  const words = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args];
  return execFileSync(gitProgram, words, { cwd, env: environment, encoding: "utf8" }).trim();
}

export interface TestTree {
  readonly mirror: GitSetup;
  readonly place: TreePlace;
  readonly base: string;
}

/** A tree of the repository in `source`, from its HEAD. */
export async function openTree(source: string, folder: string = createTemporaryFolder()): Promise<TestTree> {
  const mirror = { program: gitProgram, gitFolder: join(folder, "mirror.git"), environment: process.env };
  await openMirror(mirror);
  const repository = findRepository(source);
  borrowObjects(mirror, repository);
  const refs = await listRemoteRefs(mirror, toLocalRemote(repository, { HOME: folder }), "HEAD");
  const base = refs?.get("HEAD");
  if (base === undefined) throw new Error(`${source} has no commit`);
  const place = toTreePlace(join(folder, "tree"));
  await createTree(mirror, place, { base, branch: "work" });
  return { mirror, place, base };
}
