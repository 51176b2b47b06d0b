/** The client library at the built server: what a connection, a proxy or a dying server does to a stream. */
import type { StreamEvent } from "@sheaf/protocol";
import { createClient, type SheafClient } from "@sheaf/client";
import { verifyUpdates } from "@sheaf/client/verify";
import { expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const waiting = { turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }], after: "loop" };

async function start(script: unknown, args: readonly string[] = [], cwd = folders.newFolder()): Promise<TestServer> {
  return startServer({ home: `${cwd}-home`, cwd, script, args });
}

const toClient = ({ address, token }: TestServer): SheafClient =>
  createClient({ baseUrl: address, token, reconnect: { delayMs: 50, maxDelayMs: 200, maxTries: 100 } });

test(
  verifies(["N51", "X2", "R-01", "X13"], "a stream goes on over a server that is killed and comes back"),
  async () => {
    const cwd = folders.newFolder();
    const first = await start(waiting, [], cwd);
    const stream = toClient(first).chat({ message: "go" });
    const seen: StreamEvent[] = [];
    for await (const { event } of verifyUpdates(stream, { requireExtensions: true })) {
      seen.push(event);
      if (event.event !== "content_delta" || event.data.delta !== "Begun.") continue;
      await first.stop("SIGKILL");
      await start(waiting, ["--port", `${first.port}`], cwd);
    }
    expect(stream.response.status).toBe("error");
    expect(stream.response.documents.map(({ type, status }) => [type, status])).toEqual([
      ["text", undefined],
      ["error", undefined],
    ]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  },
);

test(verifies(["X7", "N2"], "a run that is cancelled from elsewhere ends every stream with its reason"), async () => {
  const server = await start(waiting);
  const [client, other] = [toClient(server), toClient(server)];
  const stream = client.chat({ message: "go" });
  const ends: Promise<unknown>[] = [];
  for await (const { event, response } of stream) {
    if (event.event !== "content_delta" || ends.length > 0) continue;
    ends.push(other.follow(response.id, { snapshot: true }).readToEnd());
    await other.cancel(response.id);
  }
  expect(stream.response).toMatchObject({ status: "error", metadata: { finishReason: "cancelled" } });
  expect(await Promise.all(ends)).toEqual([stream.response]);
});

test(verifies("N52", "a message that waits in the queue comes through, one that does not is refused"), async () => {
  const server = await start({ turns: [{ events: [{ text: "Hi." }, { wait_ms: 300 }] }], after: "loop" });
  const client = toClient(server);
  const first = client.chat({ message: "one" });
  for await (const { event, response } of first) {
    if (event.event !== "content_delta") continue;
    const { conversationId } = response;
    await expect(client.chat({ message: "two", conversationId }).readToEnd()).rejects.toMatchObject({
      name: "SheafApiError",
      status: 409,
      errorCode: "CONVERSATION_BUSY",
    });
    const queued = await client.chat({ message: "three", conversationId, whenBusy: "queue" }).readToEnd();
    expect(queued).toMatchObject({ status: "completed", conversationId });
  }
  const { turns } = await client.getConversation(first.conversationId!);
  expect(turns.map(({ message }) => message)).toEqual(["one", "three"]);
});

test(verifies(["X9", "X8"], "one key is one response; an approval is given by another reader"), async () => {
  const script = {
    turns: [
      { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "touch a.txt" } } }] },
      { events: [{ text: "Done." }] },
    ],
    after: "loop",
  };
  const server = await start(script, ["--sandbox", "disabled"]);
  const client = toClient(server);
  const options = { idempotencyKey: "key-1" };
  const first = client.chat({ message: "go", approvals: "ask" }, options);
  let second: Promise<unknown> | undefined;
  for await (const { event, response } of first) {
    if (event.event !== "approval_request") continue;
    second = client.chat({ message: "go", approvals: "ask" }, options).readToEnd();
    const { approvals = [] } = await client.getResponse(response.id);
    const [{ approvalId, options: choices }] = approvals as [(typeof approvals)[0]];
    await client.resolveApproval(response.id, approvalId, { optionId: choices[0]!.id });
  }
  expect(first.response).toMatchObject({ status: "completed", documents: [{ metadata: { exitCode: 0 } }, {}] });
  expect(await second).toEqual(first.response);
});
