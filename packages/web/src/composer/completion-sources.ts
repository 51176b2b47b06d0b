/** What can be completed in a message: files after `@`, and commands and skills after a `/` at its beginning. */
import type { WorkspaceCommandList, WorkspaceFileList } from "@sheaf/client";
import type { IconName } from "../elements/icon.tsx";
import type { Messages } from "../messages/messages.ts";
import { findCommandName } from "./command-name.ts";
import { findMention, toMention } from "./mention.ts";

/** A word that is being typed. */
export interface OpenWord {
  /** The place where its mark is. UTF-16 units. */
  readonly start: number;
  readonly query: string;
}

/** What it may become. */
export interface Suggestion {
  readonly icon: IconName;
  readonly name: string;
  /** What may follow the name; "" if nothing is known. */
  readonly hint: string;
  readonly description: string;
  /** What takes the place of the word. */
  readonly text: string;
}

export interface CompletionSource {
  /** Of the list, for screen readers. */
  readonly label: string;
  readonly sayNumber: (suggestions: number) => string;
  /** The word that ends at the caret; undefined if none does. */
  readonly find: (text: string, caret: number) => OpenWord | undefined;
  /** The best ones first. */
  readonly load: (query: string, signal: AbortSignal) => Promise<readonly Suggestion[]>;
  /** True if nothing of it is left to type. */
  readonly isWhole: (query: string, suggestion: Suggestion) => boolean;
}

type Load<List> = (query: string, signal: AbortSignal) => Promise<List>;

/** The way the server is asked. */
export interface CompletionPort {
  /** Files of the workspace by some letters of their paths (X31). */
  readonly findFiles: Load<WorkspaceFileList>;
  /** What a message may name after a slash (X88). */
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
