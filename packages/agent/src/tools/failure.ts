/** Outcomes of tools that failed, and notes on outcomes. */
import { posix } from "node:path";
import type { ToolError } from "@sheaf/protocol";
import type { ToolOutcome } from "./tool.ts";
import { readNames } from "@sheaf/base/files/open-folder";
import { toLine } from "@sheaf/base/files/read-folder";
import type { WorkspacePath } from "@sheaf/base/files/workspace";
import { findNearest } from "@sheaf/base/nearest-names";

/** Returns a failure. The message is one line for the model: what failed, with which value, and what to do. */
export function toFailure(code: string, message: string): ToolOutcome {
  return toFailedOutcome({ code, message, details: "" });
}

/** Returns a failure. Its details help the model beyond the one line, for instance with the nearest place in a file. */
export function toFailedOutcome(error: ToolError): ToolOutcome {
  return { status: "error", output: error.details, error };
}

export function withNote<Outcome extends ToolOutcome>(outcome: Outcome, note: string): Outcome {
  return { ...outcome, note: outcome.note === undefined ? note : `${outcome.note} ${note}` };
}

/** Returns the outcome of a tool that the run's end cancelled (N36). */
export function toCancelledOutcome(message = "the run was cancelled during this call"): ToolOutcome {
  return { status: "cancelled", output: "", error: { code: "CANCELLED", message, details: "" } };
}

/** Most names of a folder that Sheaf compares. */
const MAX_NAMES = 5000;

/** Returns FILE_NOT_FOUND with up to three names of the nearest folder that exists. */
export function toMissingFileError(root: string, path: WorkspacePath): ToolError {
  const { folder, name, names } = readNearestFolder(root, path.relative);
  // The message uses the form of the given path: absolute in an added folder.
  const shown = posix.isAbsolute(path.named) ? posix.join(root, folder) : folder;
  const near = findNearest(name, names).map((candidate) => toLine(posix.join(shown, candidate)));
  const isFolderThere = folder === posix.dirname(path.relative);
  const place = isFolderThere ? "" : ` (the folder does not exist: ${posix.join(shown, name)})`;
  const advice = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "look for it with glob_search";
  return { code: "FILE_NOT_FOUND", message: `${path.named} does not exist${place}: ${advice}`, details: "" };
}

interface NearestFolder {
  /** Path relative to the workspace. */
  readonly folder: string;
  /** The name that is missing in it. */
  readonly name: string;
  readonly names: readonly string[];
}

function readNearestFolder(root: string, relative: string): NearestFolder {
  const folder = posix.dirname(relative);
  const name = posix.basename(relative);
  try {
    return { folder, name, names: readNames(root, folder).slice(0, MAX_NAMES) };
  } catch {
    return folder === "." ? { folder, name, names: [] } : readNearestFolder(root, folder);
  }
}
