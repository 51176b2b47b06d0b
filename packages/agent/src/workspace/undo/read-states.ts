/** Reads the chain of states that a response left in a store. */
import { askGit, type GitSetup } from "@sheaf/base/git/run-git";
import { FOREIGN } from "./folder-states.ts";

/** A state by the ids of its objects; undefined: the state lacks it. */
export interface ChainState {
  readonly message: string;
  readonly files: string | undefined;
  readonly modes: string | undefined;
  /** State of the user's repository. */
  readonly git: string | undefined;
  readonly "left-out": string | undefined;
}

/** Reads the states in order, the state before the response first. @throws SheafError INTERNAL */
export async function readChain(setup: GitSetup, ref: string): Promise<readonly ChainState[]> {
  const purpose = "read the states";
  const input = await askGit(setup, ["rev-list", "--reverse", ref, "--"], { purpose });
  const words = ["diff-tree", "--stdin", "--root", "-z", "--raw", "--no-abbrev", "--no-renames", "--format=%s"];
  const fields = (await askGit(setup, words, { purpose, input })).toString().split("\0").values();
  const states: ChainState[] = [];
  let state: ChainState = { message: "", files: undefined, modes: undefined, git: undefined, "left-out": undefined };
  for (const field of fields) {
    const [, id] = /^\n?:\d+ \d+ \w+ (\w+) \w$/.exec(field) ?? [];
    if (id !== undefined) {
      state = { ...state, [fields.next().value!]: /^0+$/.test(id) ? undefined : id };
      states[states.length - 1] = state;
    } else if (field !== "") states.push((state = { ...state, message: field }));
  }
  return states;
}

/** Two states between which only the run changed something. */
export interface OwnChange {
  readonly from: ChainState;
  readonly to: ChainState;
}

/** The run's changes in a chain, in order. */
export function listOwnChanges(chain: readonly ChainState[]): readonly OwnChange[] {
  const changes: OwnChange[] = [];
  let [from] = chain;
  for (const [at, to] of chain.entries()) {
    const next = chain[at + 1];
    if (to.message === FOREIGN) from = to;
    else if (from && to !== from && (!next || next.message === FOREIGN)) changes.push({ from, to });
  }
  return changes;
}
