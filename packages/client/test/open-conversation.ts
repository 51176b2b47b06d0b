/** A conversation at a real server in the test's own process, with a scripted model. */
import { onTestFinished } from "vitest";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";
import { createConversation, type ConversationOptions, type ConversationStore } from "../src/chat.ts";
import { createClient, type SheafClient } from "../src/index.ts";

interface OpenConversation {
  readonly app: TestApp;
  readonly client: SheafClient;
  readonly conversation: ConversationStore;
  /** Of the workspace. */
  readonly cwd: string;
  /** Opens one more view of a stored conversation. */
  readonly open: (options: ConversationOptions) => ConversationStore;
}

export async function openConversation(
  turns: readonly unknown[],
  options: ConversationOptions = {},
): Promise<OpenConversation> {
  const script = { turns, after: "repeat_last" };
  const app = await openApp({ files: {}, script, args: ["--sandbox", "disabled"] });
  const send: typeof fetch = (input, init) => app.fetch(input instanceof Request ? input.url : String(input), init);
  const client = createClient({ baseUrl: app.address, fetch: send, reconnect: { delayMs: 0, maxDelayMs: 0 } });
  const open = (more: ConversationOptions): ConversationStore => {
    const conversation = createConversation(client, { schedule: runSoon, ...more });
    onTestFinished(conversation.close);
    return conversation;
  };
  return { app, client, cwd: app.cwd, open, conversation: open(options) };
}

const runSoon: ConversationOptions["schedule"] = (work) => {
  const timer = setTimeout(work);
  return () => clearTimeout(timer);
};

/** Waits for a state. */
export async function waitForState(
  { getSnapshot, subscribe }: ConversationStore,
  isWanted: (state: ReturnType<ConversationStore["getSnapshot"]>) => boolean,
): Promise<void> {
  if (isWanted(getSnapshot())) return;
  await new Promise<void>((resolve) => {
    const unsubscribe = subscribe(() => {
      if (!isWanted(getSnapshot())) return;
      unsubscribe();
      resolve();
    });
  });
}

export const waitForEnd = (conversation: ConversationStore): Promise<void> =>
  waitForState(conversation, ({ isAnswering }) => !isAnswering);
