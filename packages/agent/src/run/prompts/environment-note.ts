/** The environment of a response: a note before the prompt. Later responses get only the changed lines (C38). */
import type { Mode, RunEventBody, RunStart } from "@sheaf/protocol";
import { toLine } from "@sheaf/base/files/read-folder";

/** The facts in the note. */
export interface EnvironmentFacts {
  /** Milliseconds since 1970. The note has only the day, in the local time zone. */
  readonly now: number;
  /** A value of `process.platform`. */
  readonly platform: string;
  /** Undefined: the workspace is in no repository. */
  readonly git: GitFacts | undefined;
  /** On the PATH of commands, such as "node 24.1.0". */
  readonly runtimes: readonly string[];
  readonly sandbox: RunStart["sandbox"];
  /** Hosts that the rules list for commands. */
  readonly hosts: readonly string[];
  /** True if a person can grant permissions during the run. */
  readonly isAttended: boolean;
}

export interface GitFacts {
  /** Undefined if no branch is checked out, or its name is not known. */
  readonly branch: string | undefined;
  /** Files that are changed, new or deleted; undefined: not known. */
  readonly changedFiles: number | undefined;
}

/** The facts that the model of a conversation knows. */
export interface KnownFacts {
  push(event: RunEventBody): void;
  /** The lines of the environment by their subject. */
  readonly lines: ReadonlyMap<string, string>;
  /** The mode of the last response. */
  readonly mode: Mode | undefined;
}

/** Forgets the lines after a summary of the conversation, which may have removed them. */
export function createKnownFacts(): KnownFacts {
  const lines = new Map<string, string>();
  let mode: Mode | undefined;
  return {
    lines,
    get mode() {
      return mode;
    },
    push(event) {
      if (event.type === "compaction") lines.clear();
      if (event.type !== "run_start") return;
      mode = event.mode;
      for (const line of event.environment?.split("\n").slice(1) ?? []) lines.set(toSubject(line), line);
    },
  };
}

/** Undefined if every line is as before. */
export function toEnvironmentNote(facts: EnvironmentFacts, known: KnownFacts["lines"]): string | undefined {
  const lines = toLines(facts).filter((line) => known.get(toSubject(line)) !== line);
  if (lines.length === 0) return undefined;
  return [known.size === 0 ? "Environment:" : "Changed in the environment:", ...lines].join("\n");
}

function toSubject(line: string): string {
  return line.slice(0, line.indexOf(":"));
}

function toLines({ now, platform, git, runtimes, sandbox, hosts, isAttended }: EnvironmentFacts): string[] {
  return [
    `- Date: ${toDay(now)}`,
    `- Platform: ${platform}; commands run in bash, without a terminal`,
    `- Runtimes: ${runtimes.join(", ") || "none found"}`,
    `- Git: ${toGitLine(git)}`,
    `- Sandbox: ${toSandboxLine(sandbox, hosts)}`,
    isAttended
      ? "- User: can be asked to permit a call while you work"
      : "- User: not there while you work. Sheaf refuses calls that need a permission; ask_question ends the run, and the next message has the answer",
  ];
}

function toDay(now: number): string {
  const date = new Date(now);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${date.getFullYear()}-${month}-${day}`;
}

function toGitLine(git: GitFacts | undefined): string {
  if (!git) return "no repository";
  const { branch, changedFiles } = git;
  const place = branch === undefined ? "no branch" : `branch ${toLine(branch)}`;
  if (changedFiles === undefined) return place;
  const files = changedFiles === 1 ? "1 file" : `${changedFiles} files`;
  return `${place}, ${changedFiles === 0 ? "clean" : `${files} changed`} at the start`;
}

function toSandboxLine(sandbox: RunStart["sandbox"], hosts: readonly string[]): string {
  if (sandbox === "disabled") return "none; commands have the user's rights";
  if (sandbox === "container") return "none, in a container; commands have Sheaf's rights and its network";
  if (sandbox === "unavailable")
    return "cannot start here, so Sheaf refuses commands. If the task needs one, call it: the refusal shows the user the loss";
  const network = hosts.length === 0 ? "have no network" : `reach only these hosts: ${hosts.map(toLine).join(", ")}`;
  return `commands write only in the workspace, in /tmp (private to the run) and in caches of package managers; they ${network}`;
}
