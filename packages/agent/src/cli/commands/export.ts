/** `sheaf export SESSION`: a stored session as JSON, Markdown or HTML. */
import { createConfig } from "../../config/config.ts";
import { SheafError } from "../../base/errors.ts";
import { exportVersion, formatJsonExport, type ConversationExport } from "../../output/exports/conversation-export.ts";
import { formatHtmlExport } from "../../output/exports/html-export.ts";
import { formatMarkdownExport } from "../../output/exports/markdown-export.ts";
import type { Store } from "../../store/store.ts";
import { createStore } from "../../assemble/wire.ts";
import type { ParsedArguments } from "../arguments.ts";
import { checkFlags, toSessionWord } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { writeOutputFile } from "../output-file.ts";
import { printText } from "../standard-output.ts";

const formats: Readonly<Record<string, (conversation: ConversationExport) => string>> = {
  json: formatJsonExport,
  markdown: formatMarkdownExport,
  html: formatHtmlExport,
};

/** Writes the session. @throws SheafError USAGE for an unknown session, or a file that cannot be written. */
export async function runExport(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  checkFlags(parsed);
  const id = toSessionWord(parsed);
  const { format = "json", output } = parsed.flags;
  const formatExport = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (!formatExport) {
    throw new SheafError("USAGE", `--format "${format}" is unknown: use one of ${Object.keys(formats).join(", ")}`);
  }
  const { storeFile } = createConfig({}, io.environment, io.cwd);
  const store = await createStore(storeFile);
  let text: string;
  try {
    text = formatExport(await readConversation(store, id, storeFile));
  } finally {
    await store.close();
  }
  if (output === undefined) return printText(text);
  writeOutputFile(output, text);
  return 0;
}

async function readConversation(store: Store, id: string, storeFile: string): Promise<ConversationExport> {
  const conversation = await store.getConversation(id);
  if (!conversation) {
    const session = id.replace("conv_", "");
    throw new SheafError("USAGE", `the session ${session} is not stored in ${storeFile}: see sheaf ls --all`);
  }
  const { workspace, title, createdAt } = conversation;
  const responses = [];
  for (const response of await store.listResponses(id)) {
    if (response.reverted) continue;
    const events = await store.readEvents(response.id);
    responses.push({ id: response.id, createdAt: response.createdAt, events });
  }
  return { sheafExport: exportVersion, conversation: { id, workspace, title, createdAt }, responses };
}
