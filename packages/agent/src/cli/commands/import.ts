/** `sheaf import FILE`: takes over a session that `sheaf export` wrote. */
import { readFileSync, statSync } from "node:fs";
import { SheafError } from "../../base/errors.ts";
import { decodeExport } from "../../output/exports/decode-export.ts";
import { toBareId } from "../../output/result-line.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { withSessionStore } from "../session-store.ts";
import { printText } from "../standard-output.ts";

/** The largest file that is read. Bytes. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Stores the session under its own id and prints it. @throws SheafError USAGE for a file that is none, or is stored. */
export async function runImport(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const [file, ...rest] = parsed.positionals;
  if (file === undefined || rest.length > 0) {
    throw new SheafError("USAGE", `import takes one file of sheaf export; "${parsed.positionals.join(" ")}" was given`);
  }
  const { conversation, responses } = decodeExport(readText(file), file);
  await withSessionStore(io, undefined, async (store) => {
    if (await store.getConversation(conversation.id)) {
      const session = toBareId(conversation.id);
      throw new SheafError("USAGE", `the session ${session} is stored already: go on with --resume ${session}`);
    }
    for (const response of responses) {
      const { workspace, title } = conversation;
      await store.createResponse({ ...response, conversationId: conversation.id, workspace, title });
      await store.appendEvents(response.id, response.events, "synced");
    }
  });
  return printText(`${toBareId(conversation.id)}\n`);
}

function readText(file: string): string {
  try {
    const stat = statSync(file);
    // A pipe would be waited for.
    if (!stat.isFile()) throw new SheafError("USAGE", `${file} is not a file: name a file of sheaf export`);
    if (stat.size > MAX_BYTES) throw new SheafError("USAGE", `${file} is larger than ${MAX_BYTES} bytes`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new SheafError("USAGE", `${file} cannot be read (${code}): name a file of sheaf export`, { cause: error });
  }
}
