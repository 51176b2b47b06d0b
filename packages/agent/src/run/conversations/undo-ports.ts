/** The changes of responses by recorded states. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "@sheaf/base/paths";
import { findRepository } from "@sheaf/base/files/repository";
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import type { Store } from "@sheaf/store/store";
import { findProgram } from "@sheaf/sandbox/programs";
import { CUT, openFolderStates } from "../../workspace/undo/folder-states.ts";
import { decodeRepositoryState } from "../../workspace/undo/repository-state.ts";
import { decodeModes, noModes } from "../../workspace/undo/modes.ts";
import { listOwnChanges, type OwnChange, readChain } from "../../workspace/undo/read-states.ts";
import { listUndoStores, openUndoStore, toRunFolder, toStateRef } from "../../workspace/undo/undo-store.ts";
import { type FileStep, listUnrecorded, toFileSpans } from "./file-spans.ts";
import { NOT_KEPT } from "./revert-files.ts";
import type { RevertPorts } from "./revert.ts";
import { type RepositorySpan, toRepositorySpan } from "./revert-repository.ts";
import { createTreeContents, listTreeSteps } from "./tree-steps.ts";

/** Tries to record a response that may still be ending, and milliseconds between two. */
const MAX_TRIES = 10;
const RETRY_MS = 200;

interface UndoPlace {
  readonly store: Store;
  readonly conversationId: string;
  /** Undefined: Sheaf keeps no states. */
  readonly dataFolder: string | undefined;
  readonly environment: Environment;
}

/** The ports of a conversation in folders of this machine. */
export function createUndoPorts({ store, conversationId, dataFolder, environment }: UndoPlace): RevertPorts {
  const contents = createTreeContents();
  const program = findProgram("git", environment);
  const stores = dataFolder === undefined || program === undefined ? [] : listUndoStores(dataFolder);

  /**
   * Sheaf was killed during the response, so any program may have made the changes since. A response that was just
   * cancelled looks the same until it has recorded its last state.
   */
  const recordCut = async (gitFolder: string, root: string, responseId: string): Promise<void> => {
    const isOpen = (): boolean => existsSync(toRunFolder(gitFolder, responseId));
    for (let tries = 1; isOpen(); tries += 1) {
      try {
        const opened = await openUndoStore(dataFolder!, root, { program: program!, environment });
        const states = openFolderStates(opened, { conversationId, responseId, dataFolder: dataFolder!, now: Date.now });
        await (
          await states.record([], CUT)
        ).named;
        return states.close(true);
      } catch (error) {
        if (isOpen() && tries >= MAX_TRIES) throw error;
        await sleep(RETRY_MS);
      }
    }
  };

  const listSteps = async (
    responseId: string,
    workspace: string,
    { leftOut, repositories, comes }: StateParts & { readonly comes: boolean },
  ): Promise<readonly FileStep[] | undefined> => {
    const ref = toStateRef(conversationId, responseId);
    const own = stores.filter(({ gitFolder }) => existsSync(join(gitFolder, ref)));
    const steps: FileStep[] = [];
    for (const { gitFolder, root, top } of own) {
      const setup = { program: program!, environment, gitFolder };
      await recordCut(gitFolder, root, responseId);
      const toShown = (path: string): string => (root === workspace ? relative(root, path) || "." : path);
      const chain = await readChain(setup, ref);
      for (const id of new Set(chain.map((state) => state["left-out"]))) {
        const lines = id === undefined ? [] : (await readBlob(setup, id)).toString().split("\0");
        for (const line of lines.filter(Boolean)) leftOut.add(line);
      }
      for (const change of comes ? toBackward(listOwnChanges(chain)) : listOwnChanges(chain)) {
        const found = await listTreeSteps({ setup, ...(await toTrees(setup, change)), top, workspace: root, toShown });
        await contents.add(setup, found);
        await addRepositoryChange(repositories, setup, root, change);
        const cut = { [comes ? "before" : "after"]: { kind: "unknown" } } as const;
        const isCut = [change.from.message, change.to.message].includes(CUT);
        steps.push(...found.map((step) => (isCut ? { ...step, ...cut } : step)));
      }
    }
    return own.length === 0 ? undefined : steps;
  };

  return {
    store,
    environment,
    contents,
    async readStates({ gone, coming }) {
      const parts: StateParts = { leftOut: new Set(), repositories: new Map() };
      const steps: FileStep[] = [];
      const unrecorded = new Set<string>();
      const { workspace = "" } = (await store.getConversation(conversationId)) ?? {};
      for (const response of [...coming.toReversed(), ...gone]) {
        const { id } = response;
        const found = await listSteps(id, workspace, { ...parts, comes: coming.includes(response) });
        steps.push(...(found ?? []));
        for (const path of found ? [] : listUnrecorded(await store.readEvents(id))) unrecorded.add(path);
      }
      return {
        spans: toFileSpans(steps),
        repositories: toRepositorySpans(parts.repositories, { program: program!, environment }),
        leftOut: [...parts.leftOut],
        unrecorded: [...unrecorded].map((filePath) => ({ filePath, reason: NOT_KEPT })),
      };
    },
  };
}

/** The changes of a response from its end to its start. */
function toBackward(changes: readonly OwnChange[]): readonly OwnChange[] {
  return changes.toReversed().map(({ from, to }) => ({ from: to, to: from }));
}

interface StateParts {
  readonly leftOut: Set<string>;
  /** The changes of the user's repository in order, by its folder. */
  readonly repositories: Map<string, RepositoryChange[]>;
}

type RepositoryChange = Pick<RepositorySpan, "before" | "after">;

async function addRepositoryChange(
  repositories: Map<string, RepositoryChange[]>,
  setup: GitSetup,
  root: string,
  { from, to }: OwnChange,
): Promise<void> {
  if (from.git === undefined || to.git === undefined || from.git === to.git) return;
  const read = async (id: string) => decodeRepositoryState((await readBlob(setup, id)).toString());
  const [before, after] = [await read(from.git), await read(to.git)];
  if (before && after) repositories.set(root, [...(repositories.get(root) ?? []), { before, after }]);
}

function toRepositorySpans(
  repositories: ReadonlyMap<string, readonly RepositoryChange[]>,
  git: Omit<GitSetup, "gitFolder">,
): readonly RepositorySpan[] {
  return [...repositories].flatMap(([root, changes]) => {
    const { gitFolder } = findRepository(root);
    const repository = { ...git, gitFolder };
    const name = `revert-${Date.now()}`;
    const span = gitFolder === "" ? undefined : toRepositorySpan(changes, { repository, filePath: ".git", name });
    return span ? [span] : [];
  });
}

function readBlob(setup: GitSetup, id: string): Promise<Buffer> {
  return askGit(setup, ["cat-file", "blob", id], { purpose: "read a state" });
}

async function toTrees(setup: GitSetup, { from, to }: OwnChange) {
  const readModes = async (id: string | undefined) =>
    id === undefined ? noModes : decodeModes((await readBlob(setup, id)).toString());
  const modes = { from: await readModes(from.modes), to: await readModes(to.modes) };
  return { from: from.files, to: to.files, modes };
}
