/** The kinds of subagents: those of Sheaf, and the user's, which are Markdown files with a head (C98). */
import { basename, join } from "node:path";
import type { UserFiles } from "@sheaf/base/paths";
import { listEntryNames } from "@sheaf/base/files/list-files";
import { readSmallBytesIn, readSmallFile } from "@sheaf/base/files/open-file";
import { parseFrontMatter } from "../../config/front-matter.ts";
import { describeTool, toOwnToolNames } from "../../tools/registry.ts";

export interface AgentKind {
  readonly name: string;
  /** Its description for the model that calls it. */
  readonly description: string;
  /** Its own instructions. */
  readonly prompt: string;
  /** `ask`: it only reads. */
  readonly mode: "ask" | "agent";
  /** Names of the tools that it has; undefined: all that its mode allows. */
  readonly tools?: readonly string[] | undefined;
  readonly maxTurns: number;
  /** The model that its definition sets; undefined: the run's model (C129). */
  readonly model?: string | undefined;
  /** The owner of its definition. */
  readonly source?: "user" | "workspace";
}

/** Turns of a subagent, unless its definition says otherwise. */
const DEFAULT_TURNS = 20;

const report =
  "You work for another agent, which sees only your last message: make it a whole report, without preamble, with paths and line numbers. Your questions would get no answer, so decide, and state your assumptions.";

const builtIn: readonly AgentKind[] = [
  {
    name: "search",
    description: "finds where and how something is done in the code, and reports paths, lines and facts",
    prompt: `You search code. Look from several sides: names, texts, callers, tests. Read only as much as the question needs, and list the things that you did not find. ${report}`,
    mode: "ask",
    maxTurns: DEFAULT_TURNS,
  },
  {
    name: "plan",
    description: "reads the code that a change touches, and reports a plan in steps that can be checked",
    prompt: `You plan a change but do not make it. Read until you know which files and functions it touches and what depends on them. Report the steps in order, each with its files and its check, and the parts left out. ${report}`,
    mode: "ask",
    maxTurns: DEFAULT_TURNS,
  },
  {
    name: "review",
    description: "reads code or a change for faults, and reports each with its place and evidence",
    prompt: `You review code. Look for faults with an effect: wrong results, lost data, holes in security, missing cases and tests. Check each in the code before you report it, with place, failure, trigger and fix, the worst first. Report no matters of taste. ${report}`,
    mode: "ask",
    maxTurns: DEFAULT_TURNS,
  },
];

export interface AgentPlaces {
  /** Absolute. */
  readonly workspace: string;
  readonly trusted: boolean;
  /** Undefined: the user's own are not read. */
  readonly userFiles: Pick<UserFiles, "skillFolders"> | undefined;
}

/** Definitions that are read from one folder, the first by name. */
const MAX_FILES = 50;

/** Largest definition. Bytes. */
const MAX_BYTES = 64 * 1024;

/** Longest description that the model sees. UTF-16 units. */
const MAX_DESCRIPTION = 500;

/**
 * All kinds, by name. The first kind with a name stays: Sheaf's own, then the user's, then the workspace's, which Sheaf
 * reads only if it trusts the workspace (S-150).
 */
export function findAgentKinds({ workspace, trusted, userFiles }: AgentPlaces): ReadonlyMap<string, AgentKind> {
  const folders = (userFiles?.skillFolders ?? []).map((folder) => join(folder, "agents"));
  const found = [
    ...builtIn,
    ...folders
      .flatMap((folder) => readFolder(folder, (name) => readSmallFile(join(folder, name), MAX_BYTES)))
      .map((kind) => ({ ...kind, source: "user" as const })),
    ...(trusted ? [".sheaf/agents", ".claude/agents"] : [])
      .flatMap((folder) =>
        readFolder(join(workspace, folder), (name) =>
          readSmallBytesIn(workspace, `${folder}/${name}`, MAX_BYTES)?.toString(),
        ),
      )
      .map((kind) => ({ ...kind, source: "workspace" as const })),
  ];
  const kinds = new Map<string, AgentKind>();
  for (const kind of found) if (!kinds.has(kind.name)) kinds.set(kind.name, kind);
  return kinds;
}

function readFolder(folder: string, read: (name: string) => string | undefined): AgentKind[] {
  const files = listEntryNames(folder)
    .filter((name) => name.endsWith(".md"))
    .toSorted();
  return files.slice(0, MAX_FILES).flatMap((name) => {
    const kind = parseAgentKind(read(name) ?? "", basename(name, ".md"));
    return kind ? [kind] : [];
  });
}

/** One definition; undefined without a valid name, a description or a text. `fallbackName`: the name of its file. */
export function parseAgentKind(text: string, fallbackName: string): AgentKind | undefined {
  const { fields, body } = parseFrontMatter(text) ?? { fields: new Map<string, string>(), body: text };
  const prompt = body.trim();
  const name = fields.get("name") ?? fallbackName;
  const description = (fields.get("description") ?? "")
    .replaceAll(/\s+/g, " ")
    .slice(0, MAX_DESCRIPTION)
    .toWellFormed();
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name) || description === "" || prompt === "") return undefined;
  const tools = fields.has("tools") ? toTools(fields.get("tools")!) : undefined;
  const isReadOnly =
    ["ask", "plan"].includes(fields.get("mode") ?? "") || tools?.every((tool) => describeTool(tool)?.access === "read");
  const turns = Number(fields.get("maxTurns"));
  const model = fields.get("model") ?? "inherit";
  const isNamed = model !== "inherit" && /^[^\s\p{Cc}]{1,200}$/u.test(model);
  return {
    name,
    description,
    prompt: `${prompt}\n\n${report}`,
    mode: isReadOnly ? "ask" : "agent",
    tools,
    maxTurns: Number.isInteger(turns) && turns > 0 && turns <= 200 ? turns : DEFAULT_TURNS,
    ...(isNamed && { model }),
  };
}

/** Leaves out names that no tool has. */
function toTools(list: string): string[] {
  const names = list.split(/[\s,[\]"']+/).filter((name) => name !== "");
  return [...new Set(names.flatMap(toOwnToolNames))];
}
