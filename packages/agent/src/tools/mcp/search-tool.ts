/** tool_search: finds tools of servers, and loads them (C113). */
import { toJsonObject } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { findLongest } from "@sheaf/base/find-longest";
import type { ModelMessage } from "@sheaf/models/provider";
import { toLine } from "@sheaf/base/files/read-folder";
import { searchToolName } from "../other-tools.ts";
import { toCallable, type CallableTool } from "../registry.ts";

/** Longest list of all tools. UTF-16 units. */
const MAX_LIST = 6000;

/** Longest description in that list. UTF-16 units. */
const MAX_SUMMARY = 80;

const DEFAULT_LIMIT = 8;

/** Score of a name, higher than the score of any words. */
const MAX_SCORE = 1e6;

const parameters = s.object({
  query: s.string({ minLength: 1, description: "The task of the tools, in a few words, or their names" }),
  limit: s.optional(s.integer({ minimum: 1, maximum: 20, description: `At most so many; default ${DEFAULT_LIMIT}` })),
});

/** Creates the search tool. `tools`: all that it can load, on which alone its definition depends. */
export function createSearchTool(
  tools: readonly CallableTool[],
  load: (names: readonly string[]) => void,
): CallableTool {
  let rank: ReturnType<typeof createRanking> | undefined;
  return toCallable<s.ValueOf<typeof parameters>>({
    name: searchToolName,
    description: `Find and load tools of servers. There are too many to show all: search with several words of your task at once, and call the tools found from your next turn on. A tool is called mcp__SERVER__TOOL. These exist:\n${formatList(tools)}`,
    access: "state",
    parameters,
    async run({ query, limit = DEFAULT_LIMIT }) {
      rank ??= createRanking(tools);
      const found = rank(query).slice(0, limit);
      if (found.length === 0) {
        const output = `No tool fits ${JSON.stringify(query.slice(0, 200))}: try other words, or a name of the list.`;
        return { status: "success", output };
      }
      load(found.map(({ name }) => name));
      const lines = found.map((tool) => `- ${tool.name}: ${toSummary(tool, 200)}`);
      return { status: "success", output: `Loaded; call them from your next turn on:\n${lines.join("\n")}` };
    },
  });
}

/** Returns the names of the tools that a conversation loaded (according to its results) and used, in order. */
export function findLoadedNames(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role === "assistant") {
      return message.content.flatMap((part) => (part.type === "tool_call" ? [part.toolName] : []));
    }
    if (message.role !== "tool" || message.toolName !== searchToolName) return [];
    return [...message.output.matchAll(/^- (mcp__[\w-]+): /gm)].map(([, name = ""]) => name);
  });
}

/** Ranks tools: a name in the query is first, then words, of which rare ones and those in names weigh more. */
function createRanking(tools: readonly CallableTool[]): (query: string) => CallableTool[] {
  const entries = tools.map((tool) => ({
    tool,
    name: toWords(toIndexedText((tool.mcp?.tool ?? tool.name).slice(0, MAX_NAME))),
    text: toWords(toText(tool)),
  }));
  return (query) => {
    const named = new Set(query.split(/[\s,:"']+/));
    const words = toQueryWords(query);
    const weights = words.map((word) => {
      const hits = entries.filter(({ name, text }) => hasWord(name, word) || hasWord(text, word)).length;
      return Math.log(1 + tools.length / (1 + hits));
    });
    const toScore = ({ tool, name, text }: (typeof entries)[number]): number => {
      // The name without its server may be a word that anybody uses.
      if (named.has(tool.name)) return 2 * MAX_SCORE;
      if (named.has(tool.mcp?.tool ?? "")) return MAX_SCORE;
      const scores = words.map(
        (word, place) => (hasWord(name, word) ? 3 : hasWord(text, word) ? 1 : 0) * weights[place]!,
      );
      return scores.reduce((sum, score) => sum + score, 0);
    };
    const scored = entries.map((entry) => ({ tool: entry.tool, score: toScore(entry) }));
    const best = scored.filter(({ score }) => score > 0).toSorted((one, other) => other.score - one.score);
    return best.map(({ tool }) => tool);
  };
}

/** UTF-16 units of servers' texts that a search reads, so that it does not take long. */
const MAX_NAME = 200;
const MAX_TEXT = 2000;

function toText({ mcp, description, schema: { properties } }: CallableTool): string {
  return `${mcp?.server} ${description} ${Object.keys(toJsonObject(properties)).join(" ")}`.slice(0, MAX_TEXT);
}

function toWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns true if a word is there, or its stem: `issue` finds `issues`, and the other way round. */
function hasWord(words: readonly string[], word: string): boolean {
  return words.some((each) => each === word || (each.length > 2 && word.length > 2 && isStem(each, word)));
}

function isStem(one: string, other: string): boolean {
  return one.startsWith(other) || (other.startsWith(one) && other.length - one.length < 3);
}

/** Lists tools with their summaries if there is room, else their names, and of very many only each server's first. */
function formatList(tools: readonly CallableTool[]): string {
  const servers = [...Map.groupBy(tools, ({ mcp }) => mcp?.server ?? "")];
  const toHead = (server: string, own: readonly CallableTool[]): string => `${toLine(server)} (${own.length}):`;
  const toFull = (tool: CallableTool): string => `- ${toName(tool)}: ${toSummary(tool, MAX_SUMMARY)}`;
  const full = servers.flatMap(([server, own]) => [toHead(server, own), ...own.map(toFull)]).join("\n");
  if (full.length <= MAX_LIST) return full;
  const lines = servers.map(([server, own]) => [toHead(server, own), ...own.map(toName)].join(" "));
  const longest = findLongest(lines, MAX_LIST);
  return lines.map((line) => (line.length <= longest ? line : `${line.slice(0, longest)}… and more`)).join("\n");
}

/** Returns the name by which the model calls it, without the server. */
function toName({ name }: CallableTool): string {
  return name.replace(/^mcp__.+?__/, "");
}

/** Returns the first line of a description. */
function toSummary({ description }: CallableTool, room: number): string {
  const [line = ""] = description.trim().split(/\r?\n/, 1);
  return toLine(line.length > room ? `${line.slice(0, room).toWellFormed()}…` : line);
}

/** Words that do not describe code. */
const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and any are as at be but by can code could do does every file files find for from function get has have how i in " +
    "into is it its me my of on or our project show so some tell that the their them then there these they this those to " +
    "used uses using was we were what when where which who why will with work works would you your"
  ).split(" "),
);

const MAX_WORDS = 32;

/** Identifiers with capitals inside, such as `getUserName` and `HTTPServer`. */
const joinedIdentifier = /[\p{L}\p{N}]*\p{Ll}\p{Lu}[\p{L}\p{N}]*|\p{Lu}{2,}\p{Ll}[\p{L}\p{N}]*/gu;

/** Adds the parts of joined identifiers, so that `user name` finds `getUserName`. Other marks separate words anyway. */
export function toIndexedText(text: string): string {
  const parts = new Set<string>();
  for (const [identifier] of text.matchAll(joinedIdentifier)) {
    if (identifier.length <= 100) parts.add(splitIdentifier(identifier));
  }
  return parts.size === 0 ? text : `${text}\n${[...parts].join(" ")}`;
}

/** Turns `HTTPServerName2` into `HTTP Server Name2`. */
function splitIdentifier(identifier: string): string {
  return identifier.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
}

/** Returns the words of a question, each once, joined identifiers both whole and in parts. */
export function toQueryWords(query: string): string[] {
  const words = toIndexedText(query.slice(0, 2000)).match(/[\p{L}\p{N}]+/gu) ?? [];
  const told = [...new Set(words.map((word) => word.toLowerCase()))];
  const useful = told.filter((word) => !stopWords.has(word) && (word.length > 1 || /\P{ASCII}/u.test(word)));
  return (useful.length > 0 ? useful : told).slice(0, MAX_WORDS);
}
