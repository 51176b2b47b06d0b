/** Reads and writes files through an editor (C57). */
import { methods, type AgentContext, type ClientCapabilities } from "@agentclientprotocol/sdk/unstable";
import { now } from "@sheaf/agent/assemble/wire";
import { createEditorFiles, type EditorFiles } from "@sheaf/agent/tools/editor-files";

/** Milliseconds within which an editor must answer. */
const ANSWER_MS = 5000;

/** Returns the editor's files; undefined without such methods. If the editor fails or is silent, it has no file. */
export function toEditorFiles(
  client: AgentContext,
  sessionId: string,
  { fs = {} }: ClientCapabilities,
): EditorFiles | undefined {
  if (!fs.readTextFile && !fs.writeTextFile) return undefined;
  const { readTextFile, writeTextFile } = methods.client.fs;
  const toOptions = (signal: AbortSignal) => ({
    cancellationSignal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  });
  return createEditorFiles({
    now,
    ...(fs.readTextFile && {
      async read(path, signal) {
        try {
          return (await client.request(readTextFile, { sessionId, path }, toOptions(signal))).content;
        } catch {
          return undefined;
        }
      },
    }),
    ...(fs.writeTextFile && {
      async write(path, content, signal) {
        try {
          await client.request(writeTextFile, { sessionId, path, content }, toOptions(signal));
        } catch {
          // The file on the disk shows if the editor wrote it.
        }
      },
    }),
  });
}
