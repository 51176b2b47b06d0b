/** Notices: the limits and losses of a run that do not end it (C5, N63). One closed table of codes. */
import type { RunEventBody, RunStart } from "./run-events.ts";
import * as s from "./schema.ts";

/** Code to meaning, as C165 lists them. `NOTE` is the code of the sentences in logs that had no codes. */
export const notices = {
  NOTE: "another sentence for the user",
  SANDBOX_UNAVAILABLE: "no sandbox works here, so Sheaf refuses commands that could change something",
  NOT_CONTAINED: "commands run without a sandbox, since the user declared the machine a throw-away container",
  REVERT_UNAVAILABLE: "sheaf revert cannot undo the run",
  HOOK_NOT_RUN: "a hook that the user or the workspace set up does not run",
  HOOK_FAILED: "a hook ran, and failed",
  HOOK_MESSAGE: "a hook has a message for the user",
  AGENT_CHANGED: "a subagent is left out, or uses another model than its definition names",
  SETUP_FAILED: "the setup of a new working tree failed",
  COMMAND_UNKNOWN: "no skill or command has the name that the prompt starts with",
  EFFORT_CHANGED: "the model answers with another effort than the user chose",
  MODEL_CHANGED: "another model answers than the user named",
  STDIN_SKIPPED: "a pipe stayed silent beside a prompt, and was not read",
  RESTRICTIONS_KEPT: "the session keeps --deny, --tools or --exclude-tools of an earlier run",
  FLAG_IGNORED: "a flag or a key of cursor-agent has no effect",
  COMMAND_ENDED: "Sheaf ended a command in the background, because the run ended",
  COMMITS_KEPT: "commands ended in the middle of their work on a repository, and where its commits are",
  INSTRUCTIONS_UNTRUSTED: "the model reads the instructions of the repository as data, since it is not trusted",
  GIT_HOOKS_OFF: "git does not run the hooks of the repository, since it is not trusted",
  SERVER_NOT_STARTED: "a tool server did not start, so the model lacks its tools",
  USAGE_UNKNOWN: "a provider did not report the tokens of an answer, so usage and cost lack it",
  ANSWER_CUT: "a process ended in the middle of a message, and another one continued it",
  TREE_BRANCH: "where the run left the changes of its working tree",
  TREE_KEPT: "why a working tree stays",
} as const;

export type NoticeCode = keyof typeof notices;

const noticeCodes = Object.keys(notices) as readonly NoticeCode[];

export const notice = s.object({ code: s.growingChoice(noticeCodes), message: s.string() });

/** A code, and one sentence for the user. */
export interface Notice extends s.ValueOf<typeof notice> {}

export const refusal = s.object({
  /** Name of the tool, as in the log. */
  tool: s.string(),
  /** One line. */
  reason: s.string(),
  /** The rule that denies the call, if one does. */
  rule: s.optional(s.string()),
});

/** A call that Sheaf refused, or a part of a command that its sandbox refused (C166). */
export interface Refusal extends s.ValueOf<typeof refusal> {}

/** For the many events without any. */
const none: readonly Notice[] = [];

/** Notices of an event. The log may be older than the codes: a string is a `NOTE`. */
export function readNotices(event: RunEventBody): readonly Notice[] {
  const { notice: single, notices: found = none }: Noted = event;
  const all = single === undefined ? found : [single, ...found];
  return all === none
    ? none
    : all.map((given) => (typeof given === "string" ? { code: "NOTE", message: given } : given));
}

/** What the model lacks because a tool server is not there. */
export function toServerNotices({ mcpServers = [] }: Pick<RunStart, "mcpServers">): readonly Notice[] {
  const missing = mcpServers.filter(({ status }) => status !== "ready");
  return missing.map(({ name, problem = "" }) => ({
    code: "SERVER_NOT_STARTED",
    message: `MCP server ${name}: ${problem}`,
  }));
}

/** The fields of any event that have notices. */
interface Noted {
  readonly type: string;
  readonly notice?: Notice | string;
  readonly notices?: readonly (Notice | string)[];
}
