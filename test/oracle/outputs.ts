/** All that the oracle compares, from the inputs in a folder: the logs, the commands, the fixtures and the old stores. */
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { decideCommand, decideOthers } from "./decisions.ts";
import { toFixtureOutputs } from "./fixtures.ts";
import { formats } from "./formats.ts";
import { readOldStores } from "./old-stores.ts";
import { readLineFile } from "./recording.ts";

/** One output. `part`: which function made it; `key`: from which input. */
export interface Output {
  readonly part: string;
  readonly key: string;
  readonly text: string;
}

export interface StoredLog {
  readonly key: string;
  readonly events: readonly RunEvent[];
}

/** Makes the outputs of all parts whose name contains `only`, with the source that is checked out here. */
export async function* makeOutputs(folder: string, only = ""): AsyncGenerator<Output> {
  const chosen = Object.entries(formats).filter(([part]) => part.includes(only));
  if (chosen.length > 0) {
    for await (const { key, events } of readLineFile<StoredLog>(join(folder, "logs.ndjson.gz"))) {
      for (const [part, toText] of chosen) yield { part, key, text: tryFormat(toText, events) };
    }
  }
  const fixtures = process.env["SHEAF_FIXTURES"] ?? join(import.meta.dirname, "../../../shared/fixtures");
  const others = {
    "decisions on commands": decideCommands(join(folder, "commands.ndjson.gz")),
    "decisions on the rest": decideOthers(),
    fixtures: toFixtureOutputs(fixtures),
    "old stores": readOldStores(join(folder, "stores")),
  };
  for (const [part, outputs] of Object.entries(others)) {
    if (part.includes(only)) for await (const output of outputs) yield { part, ...output };
  }
}

async function* decideCommands(file: string): AsyncGenerator<Omit<Output, "part">> {
  for await (const command of readLineFile<string>(file)) yield { key: command, text: await decideCommand(command) };
}

function tryFormat(toText: (log: readonly RunEvent[]) => string, log: readonly RunEvent[]): string {
  try {
    return toText(log);
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}
