/** The user's earlier prompts in all sessions, in a private file of the data folder (C63). */
import { join } from "node:path";
import { parseJson } from "@sheaf/protocol/check-value";
import { appendPrivateFile, changePrivateFile, type PrivateFile } from "@sheaf/agent/config/private-file";

export interface PromptHistory {
  /** Prompts, oldest first. */
  readonly entries: readonly string[];
  /** Adds a prompt, unless it starts with a space. @throws SheafError if writing fails. */
  add(text: string): void;
}

/** Number of entries that remain after the file had twice as many. */
const MAX_ENTRIES = 1000;

/** Length of the longest stored text, in UTF-16 units; longer ones are usually pasted. */
const MAX_LENGTH = 10_000;

/** Opens the history; without `folder`, in memory only. @throws SheafError CONFIG_INVALID if the file isn't private. */
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

/** Parses the entries, without lines that a crash cut or that have another form. */
function parseEntries(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const value = parseJson(line);
    return typeof value === "string" ? [value] : [];
  });
}
