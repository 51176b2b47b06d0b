/** All tools of a run: offered by mode, checked, permitted, approved, then run. */
import { posix, sep } from "node:path";
import type { HookResult } from "@sheaf/protocol";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import type { CallPaths } from "@sheaf/permissions/decision";
import type { PathGlob } from "@sheaf/base/files/glob";
import { createLeftOut } from "./left-out.ts";
import { createBackgroundCommands } from "./background-commands.ts";
import type { KeptResults } from "../workspace/kept-results.ts";
import { readKind, toLine } from "@sheaf/base/files/read-folder";
import { describeStartedFiles } from "@sheaf/base/files/started-files";
import { fixPaths, type Workspace } from "@sheaf/base/files/workspace";
import { type AfterEditCommand, followEdit, runAfterEdit } from "./after-edit.ts";
import { toFailure, withNote } from "./failure.ts";
import { withMeantPath } from "./meant-path.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { RunUndo } from "../workspace/undo/run-undo.ts";
import { listDirTool } from "./list-dir.ts";
import { readFileTool } from "./read-file.ts";
import { chooseWorkspace, listOtherFolders, listPaths, listSpellings } from "./real-arguments.ts";
import { limitAttachments } from "./limit-attachments.ts";
import { createTurnBudget, limitResult, type TurnBudget } from "./result-budget.ts";
import { createGate, toEditedCall, type GatePorts } from "./gate.ts";
import {
  type CallableTool,
  type ServerTools,
  type ToolChoice,
  type ToolOffer,
  describeIgnored,
  findTool,
  isChosen,
  toDefinitions,
  toUnknownTool,
} from "./registry.ts";
import type { ToolDefinition } from "@sheaf/models/provider";
import type { ExecuteOptions, ToolBox, ToolContext, ToolInvocation, ToolOutcome, ToolReturn } from "./tool.ts";

export interface ToolBoxPorts
  extends
    Omit<GatePorts, "state">,
    Omit<ToolContext, "background" | "callId" | "signal" | "emitOutput" | "agentPort" | "askPerson"> {
  readonly afterEdit?: readonly AfterEditCommand[] | undefined;
  /** The tools that the run can use at all. */
  readonly offer?: Omit<ToolOffer, "mode" | "hasPlan">;
  /** Tools of programs, skills and subagents. */
  readonly furtherTools?: readonly CallableTool[] | undefined;
  /** Opens the tools of servers of the Model Context Protocol. */
  readonly openServerTools?: ((choice: ToolChoice | undefined) => ServerTools) | undefined;
}

export function createToolBox(ports: ToolBoxPorts): ToolBox {
  const running = new Set<Promise<ToolOutcome>>();
  const gate = createGate(ports);
  const background = createBackgroundCommands(ports.commands);
  const { furtherTools = [] } = ports;
  const hasPlan = ports.state.planRevision > 0;
  const servers = ports.openServerTools?.(ports.offer?.choice);
  const offer = { ...ports.offer, mode: ports.mode, hasPlan };
  const listDefinitions = (): readonly ToolDefinition[] =>
    toDefinitions(offer, [...furtherTools, ...(servers?.offered ?? [])]);
  let definitions = listDefinitions();
  // A tool that the caller left out does not exist for the model (C46).
  const find = (name: string): CallableTool | undefined =>
    (isChosen(name, ports.offer?.choice) ? findTool(name, furtherTools) : undefined) ?? servers?.find(name);
  const toUnknown = (name: string): ToolOutcome =>
    toUnknownTool(
      name,
      definitions.map((tool) => tool.name),
    );

  let last: { readonly id: string; readonly budget: TurnBudget } | undefined;
  const findBudget = (turn: ExecuteOptions["turn"]): TurnBudget => {
    if (turn?.id !== last?.id) last = turn && { id: turn.id, budget: createTurnBudget(turn.windowTokens) };
    return last?.budget ?? createTurnBudget();
  };

  const execute: ToolBox["execute"] = async (call, { approval, turn, ...options }) => {
    const budget = findBudget(turn);
    const tool = find(call.toolName);
    if (!tool) return toUnknown(call.toolName);
    const edited = toEditedCall(call, approval);
    const prepared = await tool.prepare(edited);
    if (!prepared.ok) return prepared.outcome;
    const paths = listPaths(tool, edited.arguments);
    const kept = tool.opensResults && paths ? findKept(paths, ports.results, ports.workspace) : undefined;
    if (kept === "lost") return toFailure("FILE_NOT_FOUND", lostMessage);
    const chosen = kept ?? chooseWorkspace(paths, ports.workspace, ports.addedWorkspaces);
    const fixed = fixPaths(chosen);
    const unread = kept ? [] : listUnread(ports, fixed.root, paths && listSpellings(paths, fixed));
    const leftOut = createLeftOut(unread, fixed, chosen !== ports.workspace);
    const workspace = { ...fixed, leftOut };
    const refusal = await gate.findRefusal(call, tool, { workspace, approval });
    if (refusal) return refusal;
    const linked = paths?.files.find((path) => isLeftOut(path, workspace));
    if (linked !== undefined)
      return toFailure("PERMISSION_DENIED", `${linkedMessage}: leave ${linked}, and tell the user`);
    const foreign = paths?.files.find((path) => isForeignPath(path, workspace));
    if (foreign !== undefined) {
      const meant = foreign.replaceAll("\\", "/");
      return toFailure("PATH_INVALID", `there is no "${foreign}": did you mean "${meant}"? Paths have "/" here`);
    }
    const context = { ...ports, ...options, workspace, background, callId: call.callId };
    const run = (): Promise<ToolReturn> => prepared.run(context);
    const left = withLeftOut(await runRecorded(run, tool, ports.undo), workspace, paths);
    const done = await withMeantPath(withStartedFiles(left), workspace, { paths, signal: options.signal });
    // Other rules apply to a list than to a file.
    if (tool.name === readFileTool.name && done.error?.code === "IS_A_DIRECTORY") {
      return listInstead(edited, workspace, (list) => execute(list, { ...options, turn }));
    }
    const checked = await runAfterEdit(done, ports.afterEdit ?? [], context, ports.permissions);
    const returned = await runHooksAfter(checked, edited, options.hooks, context);
    const result = limitResult(limitAttachments(returned, ports.state), budget, ports.results);
    if (kept) return withKeptName(result, kept.root);
    const outcome =
      chosen === ports.workspace
        ? withWayOut(result, [workspace.root, ...listOtherFolders(paths, ports.addedWorkspaces)])
        : withFolderNote(result, workspace.root);
    return approval?.editedArguments ? withEditNote(outcome, approval.editedArguments) : outcome;
  };

  return {
    definitions,
    ...(servers && {
      async refresh(signal: AbortSignal) {
        await servers.refresh(signal);
        definitions = listDefinitions();
        return definitions;
      },
    }),
    accessOf({ toolName, arguments: args }) {
      const tool = find(toolName);
      return tool?.accessOf?.(args) ?? tool?.access ?? "read";
    },
    async checkArguments({ callId, toolName }, args) {
      const prepared = await find(toolName)?.prepare({ callId, toolName, arguments: args });
      const outcome = prepared ? !prepared.ok && prepared.outcome : toUnknown(toolName);
      return outcome ? outcome.error?.message : undefined;
    },
    async review(call) {
      const tool = find(call.toolName);
      if (!tool || !(await tool.prepare(call)).ok) return undefined;
      return gate.toQuestion(call, tool);
    },
    async execute(call, options) {
      const outcome = execute(call, options);
      running.add(outcome);
      const ignored = describeIgnored(call);
      try {
        return ignored === undefined ? await outcome : withNote(await outcome, ignored);
      } finally {
        running.delete(outcome);
      }
    },
    async settle() {
      // The code of a program or a server need not obey an abort.
      await waitAtMost(Promise.allSettled([...running, background.end()]), SETTLE_MS);
      const notices = await ports.commands.end();
      await ports.undo?.end();
      await ports.results?.settle();
      return notices;
    },
  };
}

/** Records the states of files around a tool that may change them. Commands do so themselves. */
async function runRecorded(
  run: () => Promise<ToolReturn>,
  { access, changesFiles = access === "write" || access === "mcp" }: Pick<CallableTool, "access" | "changesFiles">,
  undo: RunUndo | undefined,
): Promise<ToolReturn> {
  if (!undo) return run();
  const returned = await (changesFiles ? undo.around(run) : run());
  const { kind } = returned.effect ?? {};
  if (!changesFiles && kind !== "command" && kind !== "terminal") return returned;
  const problem = changesFiles ? undo.takeProblem() : undefined;
  const result = { ...returned, state: undo.nextState };
  return problem === undefined ? result : withNote(result, problem);
}

/** Time that calls may take to end after the run: more than the processes of a command. Milliseconds. */
const SETTLE_MS = 5000;

const lostMessage = "this result is not kept any more: make the call that returned it again";

/** Finds the folder of a call's file if that is a kept result (N57), and no file of the workspace has its name. */
function findKept(
  { files, folders }: CallPaths,
  results: KeptResults | undefined,
  { root }: Workspace,
): Workspace | "lost" | undefined {
  const [name = "", ...others] = [...files, ...folders];
  const kept = others.length === 0 ? results?.find(name) : undefined;
  if (!kept || kept.found) return kept?.found;
  return readKind(root, posix.normalize(name)) === "missing" ? "lost" : undefined;
}

const linkedMessage = "a rule of the user denies reading this file by another of its names (hard links)";

/** Returns true if a rule denies the file by another path; rules for this path have refused the call before. */
function isLeftOut(path: string, workspace: Workspace): boolean {
  const resolved = workspace.resolve(path);
  return resolved.ok && workspace.leftOut?.has(resolved.path.relative) === true;
}

/** Returns true for a path of Windows, which would be one name elsewhere. A file with such a name stays in reach. */
function isForeignPath(path: string, workspace: Workspace): boolean {
  const resolved = sep === "/" && path.includes("\\") ? workspace.resolve(path) : undefined;
  return resolved?.ok === true && readKind(workspace.root, resolved.path.relative) === "missing";
}

/** Replaces the folder of kept results by the name that the model knows. */
function withKeptName(outcome: ToolOutcome, root: string): ToolOutcome {
  const { error } = outcome;
  if (!error?.message.includes(root)) return outcome;
  return { ...outcome, error: { ...error, message: error.message.replaceAll(root, "of sheaf-output/") } };
}

/** Lists a folder that the model wanted to read, as list_dir does (C34). */
async function listInstead(
  { callId, arguments: { target_file: folder } }: ToolInvocation,
  workspace: Workspace,
  run: (call: ToolInvocation) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const resolved = workspace.resolve(String(folder));
  const listed = await run({ callId, toolName: listDirTool.name, arguments: { target_directory: folder } });
  if (!listed.effect || !resolved.ok) return listed;
  return { ...listed, effect: { kind: "list", path: resolved.path.absolute } };
}

/** Returns the rules whose places the call must leave out, except for its own paths: a person allowed them. */
function listUnread(
  { permissions, state: { answers } }: GatePorts,
  root: string,
  spellings: readonly CallPaths[] = [],
): readonly PathGlob[] {
  const unread = permissions.listUnread({ allow: [...answers.allow], deny: [...answers.deny] });
  const globs = unread.map((glob) => glob.in(root));
  const named = spellings.flatMap(({ files, folders }) => [...files, ...folders]);
  return globs.filter((glob) => !named.some((path) => glob.isCovering(path)));
}

/** Adds the number of places that a search left out: to a note for the model, and to a field for programs. */
function withLeftOut<Outcome extends ToolOutcome>(
  outcome: Outcome,
  workspace: Workspace,
  paths: CallPaths | undefined,
): Outcome {
  const folders = (paths?.folders ?? []).flatMap((folder) => {
    const resolved = workspace.resolve(folder);
    return resolved.ok ? [resolved.path.relative] : [];
  });
  const isSearched = (path: string): boolean =>
    folders.some((folder) => folder === "." || path === folder || path.startsWith(`${folder}/`));
  const denied = [...(workspace.leftOut?.paths ?? [])].filter(isSearched).length;
  if (outcome.status !== "success" || denied === 0) return outcome;
  const note = `The user's rules deny reading ${denied} ${denied === 1 ? "place" : "places"} here, which this result leaves out.`;
  return { ...withNote(outcome, note), denied };
}

/** Adds a note on changes of CI and hooks: people ask for them, and must see each (S-245). */
function withStartedFiles<Outcome extends ToolOutcome>(outcome: Outcome): Outcome {
  if (outcome.effect?.kind !== "file_edit") return outcome;
  const note = describeStartedFiles(outcome.effect.changes.map((change) => change.newFilePath ?? change.filePath));
  return note === undefined ? outcome : withNote(outcome, note);
}

/** Adds the way to move a file to another folder: each has its own rules and history, so a call works in one. */
function withWayOut(outcome: ToolOutcome, folders: readonly string[]): ToolOutcome {
  const { error } = outcome;
  if (folders.length < 2 || error?.code !== "PATH_OUTSIDE_WORKSPACE") return outcome;
  const message = `${error.message}. To move a file between ${folders.join(" and ")}, write the new one, then delete the old one`;
  return { ...outcome, error: { ...error, message } };
}

/** Adds a note on an added folder, to which the paths of the result are relative. */
function withFolderNote(outcome: ToolOutcome, root: string): ToolOutcome {
  if (outcome.status !== "success" || outcome.effect?.kind === "file_edit") return outcome;
  const note = `This is in ${toLine(root)}, outside the workspace: write paths there as absolute paths that start with this folder.`;
  return withNote(outcome, note);
}

/** Adds a note on changed arguments: the model must know that the call differs from its own. */
function withEditNote(outcome: ToolOutcome, args: Readonly<Record<string, unknown>>): ToolOutcome {
  const note = `The user changed the arguments of this call; it ran with ${JSON.stringify(args)}.`;
  return { ...outcome, note: outcome.note === undefined ? note : `${note} ${outcome.note}` };
}

/** Runs hooks after a call. The next edit accepts a hook that formats the file, and a revert undoes both (S-96). */
async function runHooksAfter(
  outcome: ToolReturn,
  call: ToolInvocation,
  hooks: Hooks | undefined,
  context: ToolContext,
): Promise<ToolReturn> {
  if (!hooks || outcome.status !== "success") return outcome;
  let results: readonly HookResult[] = [];
  const followed = await followEdit(outcome, context, async () => {
    results = await hooks.run({ event: "PostToolUse", call, outcome }, context.signal);
    return [];
  });
  return results.length === 0 ? outcome : { ...outcome, ...followed, hooks: results };
}
