/** Converts pages to Markdown, in a thread with a time limit, since a page can be slow on purpose (S-72). */
import { once } from "node:events";
import { startThread } from "@sheaf/base/start-thread";

/** Time that one page may take. Milliseconds. */
const LIMIT_MS = 5000;

/**
 * Returns the `main` part of the page if there is one. Links stay as the page has them, except that a link with
 * `javascript:` becomes its text.
 * @throws the reason of `signal` when it aborts, else an Error with the reason why the page has no Markdown.
 */
export async function toMarkdown(html: string, signal: AbortSignal): Promise<string> {
  const worker = startThread(import.meta.url, "markdown-worker", { workerData: html });
  // A thread that fails while it is being ended must not end this process.
  worker.on("error", () => undefined);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const [text] = (await once(worker, "message", { signal: limit })) as [string];
    return text;
  } catch (cause) {
    signal.throwIfAborted();
    const { name, message } = cause as Error;
    const reason = name === "AbortError" ? `it takes longer than ${LIMIT_MS / 1000} s` : message;
    throw new Error(reason, { cause });
  } finally {
    void worker.terminate();
  }
}
