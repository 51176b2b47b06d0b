/** What a person wrote before, over sessions: in a private file of the data folder (C63). */
import { join } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { appendPrivateFile, changePrivateFile, type PrivateFile } from "@sheaf/agent/config/private-file";

export interface PromptHistory {
  /** Oldest first. */
  readonly entries: readonly string[];
  /** What begins with a space is not kept. @throws SheafError when it cannot be written. */
  add(text: string): void;
}

/** Entries that stay when the file has twice as many. */
const MAX_ENTRIES = 1000;

/** Longer texts, which were pasted, are not kept. UTF-16 units. */
const MAX_LENGTH = 10_000;

/** `folder` undefined: nothing is read or written. @throws SheafError CONFIG_INVALID for a file that is not private. */
export function openPromptHistory(folder: string | undefined): PromptHistory {
  const target = folder === undefined ? undefined : toTarget(folder);
  const kept = target && changePrivateFile(target, shorten).after;
  const entries = parseEntries(kept ?? "");
  return {
    entries,
    add(text) {
      if (text.trim() === "" || /^\s/.test(text) || text === entries.at(-1)) return;
      entries.push(text);
      if (target && text.length <= MAX_LENGTH) appendPrivateFile(target, formatEntry(text));
    },
  };
}

function toTarget(folder: string): PrivateFile {
  return { file: join(folder, "history.jsonl"), subject: "the history of prompts", remedy: "remove it" };
}

function shorten(text: string | undefined): string | undefined {
  const entries = parseEntries(text ?? "");
  return entries.length < 2 * MAX_ENTRIES ? text : entries.slice(-MAX_ENTRIES).map(formatEntry).join("");
}

function formatEntry(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

/** A line that a crash has cut, or that is something else, is left out. */
function parseEntries(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const value = parseJson(line);
    return typeof value === "string" ? [value] : [];
  });
}
