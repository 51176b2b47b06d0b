/** `sheaf diff SESSION SESSION`: the place where two sessions part, with their tokens, cost and files (C198). */
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { compareStored } from "@sheaf/agent/output/session-tests/compare-stored";
import { toBareId } from "@sheaf/agent/output/result-line";
import { toVisibleText } from "@sheaf/agent/output/visible-text";
import { now } from "@sheaf/agent/assemble/wire";
import { SheafError } from "@sheaf/base/errors";
import type { ConversationComparison } from "@sheaf/protocol";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { findConversation } from "../session-words.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints a table and the first difference, which isn't a failure. @throws SheafError USAGE, CONVERSATION_BUSY, STORAGE_…. */
export async function runDiff(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { positionals } = parsed;
  const format = toCommandFormat(parsed);
  const [word, otherWord] = positionals;
  if (otherWord === undefined)
    throw new SheafError("USAGE", "sheaf diff needs two sessions: run sheaf ls to list them");
  const { environment } = io;
  const mask = createKnownMask(environment);
  return withSessionStore(io, undefined, async (store, { dataFolder }) => {
    const ids = [await findConversation(store, word!), await findConversation(store, otherWord)] as const;
    const comparison = await compareStored(ids, { store, dataFolder, environment, mask, now });
    const { conversations, parting = null, files } = comparison;
    if (format === "json") return printJson(io, { sessions: conversations.map(toRow), parting, files });
    return printText(io, formatComparison(comparison));
  });
}

function toRow(row: ConversationComparison["conversations"][number]) {
  const { conversationId, inputTokens, outputTokens, costUsd, end, files, ...counts } = row;
  return {
    session_id: toBareId(conversationId),
    ...counts,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd ?? null,
    end,
    files,
  };
}

function formatComparison({ conversations, parting, files }: ConversationComparison): string {
  const [one, other] = conversations.map(toRow) as [ReturnType<typeof toRow>, ReturnType<typeof toRow>];
  const table = (Object.keys(one) as (keyof typeof one)[]).map((name) => {
    const [first, second] = [one[name], other[name]].map((value) => String(value ?? "unknown"));
    return `${name.padEnd(13)}  ${first!.padEnd(36)}  ${second}`.trimEnd();
  });
  const difference = parting
    ? [`They part at ${parting.place}: ${parting.message}.`, ...parting.diff.split("\n").filter(Boolean)]
    : ["Prompts, answers, calls and results are the same."];
  const changed = files.length === 0 ? "Their files are the same." : `Files that differ: ${files.join(", ")}`;
  return toVisibleText([...table, "", ...difference, "", changed, ""].join("\n"));
}
