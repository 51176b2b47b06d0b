/** Sources of completions: files after `@`, and commands and skills after a `/` at the start of a message. */
import type { WorkspaceCommandList, WorkspaceFileList } from "@sheaf/client";
import type { IconName } from "../elements/icon.tsx";
import type { Messages } from "../messages/messages.ts";
import { findCommandName } from "./command-name.ts";
import { findMention, toMention } from "./mention.ts";

/** An unfinished word before the caret. */
export interface OpenWord {
  /** Index of the word's mark, in UTF-16 units. */
  readonly start: number;
  readonly query: string;
}

/** A possible completion of a word. */
export interface Suggestion {
  readonly icon: IconName;
  readonly name: string;
  /** Arguments that can follow the name; "" if unknown. */
  readonly hint: string;
  readonly description: string;
  /** The text that replaces the word. */
  readonly text: string;
}

export interface CompletionSource {
  /** Label of the list, for screen readers. */
  readonly label: string;
  readonly sayNumber: (suggestions: number) => string;
  /** Returns the word that ends at the caret; undefined if none does. */
  readonly find: (text: string, caret: number) => OpenWord | undefined;
  /** Loads the suggestions, the best ones first. */
  readonly load: (query: string, signal: AbortSignal) => Promise<readonly Suggestion[]>;
  /** True if the user has typed the whole suggestion. */
  readonly isWhole: (query: string, suggestion: Suggestion) => boolean;
}

type Load<List> = (query: string, signal: AbortSignal) => Promise<List>;

/** The requests to the server that completions need. */
export interface CompletionPort {
  /** Finds files of the workspace by some letters of their paths (X31). */
  readonly findFiles: Load<WorkspaceFileList>;
  /** Lists the commands and skills that a message can start with (X88). */
  readonly findCommands: Load<WorkspaceCommandList>;
}

export function createCompletionSources(port: CompletionPort, messages: Messages): readonly CompletionSource[] {
  return [
    {
      label: messages.files,
      sayNumber: (number) => messages.filesOffered({ number }),
      find: findMention,
      load: async (query, signal) => {
        const { files } = await port.findFiles(query, signal);
        return files.map(({ path }) => {
          return { icon: "file", name: path, hint: "", description: "", text: toMention(path) };
        });
      },
      isWhole: () => false,
    },
    {
      label: messages.commands,
      sayNumber: (number) => messages.commandsOffered({ number }),
      find: findCommandName,
      load: async (query, signal) => {
        const { commands } = await port.findCommands(query, signal);
        return commands.map(({ kind, name, argumentHint, description }) => {
          const icon = kind === "skill" ? "skill" : "file";
          return { icon, name: `/${name}`, hint: argumentHint, description, text: `/${name} ` };
        });
      },
      isWhole: (query, { name }) => name === `/${query}`,
    },
  ];
}
