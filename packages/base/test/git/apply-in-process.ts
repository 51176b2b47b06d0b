/** Applies an exported state in its own process: `apply-in-process.ts GIT_FOLDER BEFORE OUT`; `BEFORE` is a git folder, too. */
import { applyGitState } from "../../src/git/apply-git-state.ts";
import { decodeGitState, readGitState } from "../../src/git/git-state.ts";

const [gitFolder = "", beforeFolder = "", out = ""] = process.argv.slice(2);
const repository = { program: "git", gitFolder, environment: process.env };
const before = await readGitState({ ...repository, gitFolder: beforeFolder });
const after = decodeGitState(out);
process.stdout.write("begins\n");
await applyGitState({ repository, before, after, packFile: `${out}/pack`, name: "t", hasNetwork: false });
process.stdout.write("ends\n");
