/** The tools of servers that a run, or a subagent, sees: all of them, or those that it loaded (C112, C113). */
import type { ModelMessage } from "@sheaf/models/provider";
import { searchToolName } from "../other-tools.ts";
import { isChosen, type CallableTool, type ServerTools, type ToolChoice } from "../registry.ts";
import { createSearchTool, findLoadedNames } from "./search-tool.ts";
import type { ToolList } from "./tool-list.ts";

/** Longest definitions, together, that a model gets without loading them: about 8,000 tokens. UTF-16 units. */
const MAX_DEFINITIONS = 28_000;

export interface ServerToolsOptions {
  /** The tools that the caller wants the run to have. */
  readonly choice?: ToolChoice | undefined;
  /** The conversation so far: tools that it loaded stay. */
  readonly messages: readonly ModelMessage[];
}

/** Creates the tools. Offered ones stay and loaded ones are last, so that requests start alike as far as possible. */
export function createServerTools(
  list: ToolList,
  resourceTools: readonly CallableTool[],
  { choice, messages }: ServerToolsOptions,
): ServerTools {
  const others = resourceTools.filter(({ name }) => isChosen(name, choice));
  const loaded = new Set<string>();
  let isDeferring = false;
  let chosen: readonly CallableTool[] = [];
  let offered: readonly CallableTool[] = [];
  let searchTool: CallableTool | undefined;
  let read: readonly CallableTool[] | undefined;

  const load = (names: readonly string[]): void => {
    const before = loaded.size;
    for (const name of names) loaded.add(name);
    if (loaded.size > before) arrange();
  };
  const arrange = (): void => {
    const byName = new Map(chosen.map((tool) => [tool.name, tool]));
    offered = searchTool
      ? [...others, searchTool, ...[...loaded].flatMap((name) => byName.get(name) ?? [])]
      : [...chosen, ...others];
  };
  const update = (): void => {
    if (read === list.tools) return;
    read = list.tools;
    const before = chosen.map(({ name }) => name);
    chosen = read.filter(({ name }) => isChosen(name, choice));
    if (!isDeferring && isChosen(searchToolName, choice) && toSize(chosen) > MAX_DEFINITIONS) {
      isDeferring = true;
      for (const name of [...findLoadedNames(messages), ...before]) loaded.add(name);
    }
    searchTool = isDeferring ? createSearchTool(chosen, load) : undefined;
    arrange();
  };

  return {
    get offered() {
      update();
      return offered;
    },
    find(name) {
      update();
      const found = offered.find((tool) => tool.name === name);
      if (found) return found;
      const tool = chosen.find((each) => each.name === name);
      return tool ? toLoading(tool, load) : isChosen(name, choice) ? list.findLost(name) : undefined;
    },
    refresh: (signal) => list.refresh(signal),
  };
}

function toSize(tools: readonly CallableTool[]): number {
  return tools.reduce(
    (sum, { name, description, schema }) => sum + JSON.stringify({ name, description, schema }).length,
    0,
  );
}

/** Loads a tool that the model calls by its name alone; the server checks the arguments. */
function toLoading(tool: CallableTool, load: (names: readonly string[]) => void): CallableTool {
  return {
    ...tool,
    prepare(call) {
      load([tool.name]);
      return tool.prepare(call);
    },
  };
}
