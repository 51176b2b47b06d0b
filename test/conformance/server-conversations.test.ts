/** Conversations of several owners and processes: who sees them, who writes them, and what a killed server leaves. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reduce, type ChatResponse, type Conversation } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { readEvents, startServer, startServerProcess } from "../support/server.ts";
import { createTestFolder, openSheaf, parseStream, runSheaf } from "../support/sheaf.ts";
import { has, openUserEvents } from "../support/user-events.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const waitingScript = {
  turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
  after: "loop",
};

describe("owners", () => {
  test(verifies("S-53", "see nothing of each other: foreign and missing get the same answer"), async () => {
    const cwd = folders.newFolder();
    const file = `${cwd}-tokens`;
    const [ada, bob] = ["a".repeat(32), "b".repeat(32)];
    writeFileSync(file, `# clients\nada ${ada}\n\n${bob}\n`, { mode: 0o600 });
    const server = await startServer({ cwd, args: ["--token-file", file] });
    const [mine, other] = [server.as(ada), server.as(bob)];
    const response = await mine.ask({ message: "go" });
    const { id, conversationId } = response;
    expect(await mine.read(`/v1/responses/${id}`)).toEqual(response);
    expect(await other.read("/v1/conversations")).toEqual({ conversations: [] });
    for (const [method, path, body] of [
      ["GET", "/v1/responses/ID"],
      ["GET", "/v1/responses/ID/events"],
      ["GET", "/v1/responses/ID/events?snapshot=1"],
      ["POST", "/v1/responses/ID/cancel", {}],
      ["POST", "/v1/responses/ID/approvals/appr_1", { optionId: "allow" }],
      ["GET", "/v1/conversations/CONVERSATION"],
      ["DELETE", "/v1/conversations/CONVERSATION"],
      ["GET", "/v1/conversations/CONVERSATION/export?format=markdown"],
      ["POST", "/v1/conversations/CONVERSATION/fork", { responseId: id }],
      ["POST", "/v1/conversations/CONVERSATION/revert", { responseId: id }],
    ] as const) {
      const ask = async (response_: string, conversation: string): Promise<readonly [string, number, string]> => {
        const answer = await other.send(
          method,
          path.replace("ID", response_).replace("CONVERSATION", conversation),
          body,
        );
        return [path, answer.status, (await answer.text()).replaceAll(response_, "").replaceAll(conversation, "")];
      };
      const foreign = await ask(id, conversationId);
      expect(foreign).toEqual(await ask("chat_missing", "conv_missing"));
      expect(foreign[1]).toBe(404);
    }
    expect((await other.chat({ message: "go", conversationId })).status).toBe(404);
    expect(await mine.readConversation(conversationId)).toMatchObject({ turns: [{ response }] });
    const listed = await runSheaf(["show", conversationId.slice(5)], { cwd, home: server.home });
    expect(listed.code).toBe(2);
  });

  test("the generated token is the local user's: page and command line share their conversations", async () => {
    const server = await startServer();
    const { conversationId } = await server.ask({ message: "one" });
    const options = { cwd: server.cwd, home: server.home };
    const shown = await runSheaf(["show", conversationId.slice(5)], options);
    expect(parseStream(shown.stdout).at(-1)).toMatchObject({ result: "Hello world." });
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "--resume", conversationId.slice(5), "two"];
    expect((await runSheaf(args, options)).code).toBe(0);
    const conversation = await server.readConversation(conversationId);
    expect(conversation.turns.map(({ message }) => message)).toEqual(["one", "two"]);
  });
});

test(verifies("C231", "a run of the command line is in the events at once, and answered where it runs"), async () => {
  const call = { tool: "run_terminal_cmd", arguments: { command: "node -e 0" } };
  const script = { turns: [{ events: [{ text: "Look. " }, { call }] }, { events: [{ text: "Done." }] }] };
  const server = await startServer({ script });
  const events = await openUserEvents(server);
  await events.next(({ event }) => event === "snapshot");
  const lines = ["--input-format", "stream-json", "--output-format", "stream-json"];
  const model = ["--model", `scripted:${server.home}-script.json`, "--sandbox", "disabled"];
  const sheaf = openSheaf(["-p", ...lines, ...model], { cwd: server.cwd, home: server.home });
  sheaf.input.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "from a program" } })}\n`);
  const asked = await events.next(has("approval_waiting"));
  if (asked.event !== "conversation") throw new Error("another event");
  expect(events.words()).toContain(`response_started ${asked.data.conversation.id}`);
  const { runningResponseId = "", approvals = [] } = asked.data.conversation;
  expect(approvals).toMatchObject([{ kind: "command", answeredIn: "program" }]);
  const path = `/v1/responses/${runningResponseId}`;
  const answer = await server.send("POST", `${path}/approvals/${approvals[0]!.approvalId}`, { optionId: "allow_once" });
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("the program that runs") } });
  const followed = readEvents(await server.fetch(`${path}/events`));
  sheaf.input.end();
  expect(await events.next(has("response_ended"))).toMatchObject({
    data: { ended: { responseId: runningResponseId } },
  });
  expect(verify(await followed)).toBeUndefined();
});

describe("several processes on one conversation", () => {
  test(verifies(["R-05", "C20"], "have one writer: the command line ends with code 9"), async () => {
    const server = await startServer({ script: waitingScript });
    const answer = await server.chat({ message: "one", stream: true });
    const conversationId = answer.headers.get("x-conversation-id")!;
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "--resume", conversationId.slice(5), "two"];
    const { code, stdout, stderr } = await runSheaf(args, { cwd: server.cwd, home: server.home });
    expect(code).toBe(9);
    expect(stderr).toMatch(/^sheaf: CONVERSATION_BUSY: /);
    expect(parseStream(stdout).at(-1)).toMatchObject({ is_error: true, error: { code: "CONVERSATION_BUSY" } });
    expect((await server.readConversation(conversationId)).turns).toHaveLength(1);
  });

  test(verifies(["X2", "X7"], "a run of the command line is followed and cancelled through the server"), async () => {
    const server = await startServer({ script: waitingScript });
    const args = ["-p", "--model", `scripted:${server.home}-script.json`, "one"];
    const run = runSheaf(args, { cwd: server.cwd, home: server.home });
    const find = async (): Promise<Conversation> => {
      for (;;) {
        const conversations = await server.listConversations();
        const found = conversations[0] && (await server.readConversation(conversations[0].id));
        if (found?.turns[0]?.response.documents.length) return found;
      }
    };
    const { id } = (await find()).turns[0]!.response;
    const events = readEvents(await server.fetch(`/v1/responses/${id}/events`));
    expect((await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" })).status).toBe(202);
    expect((await run).code).toBe(130);
    expect(reduce(await events)).toMatchObject({ status: "error", metadata: { finishReason: "cancelled" } });
  });
});

describe("a server that was killed", () => {
  test(verifies(["R-01", "R-04"], "ends what was cut within 5 s of its restart, and runs nothing again"), async () => {
    const cwd = folders.newFolder();
    const command = { command: "echo run >> count.txt; sleep 30" };
    const script = {
      turns: [{ events: [{ text: "I run. " }, { call: { tool: "run_terminal_cmd", arguments: command } }] }],
    };
    const args = ["--force", "--sandbox", "disabled"];
    const server = await startServerProcess({ cwd, script, args });
    const answer = await server.chat({ message: "go", stream: true });
    const seen = await readEvents(
      answer,
      ({ event, data }) => event === "document_start" && "type" in data && data.type === "terminal_command",
    );
    await expect.poll(() => readFileSync(join(cwd, "count.txt"), "utf8")).toBe("run\n");
    await server.stop("SIGKILL");
    const restartedAt = performance.now();
    const restarted = await startServer({ cwd, script, home: server.home });
    const path = answer.headers.get("location")!;
    const events = await readEvents(await restarted.fetch(`${path}/events`));
    expect(performance.now() - restartedAt).toBeLessThan(5000);
    expect(events.slice(0, seen.length)).toEqual(seen);
    expect(verify(events)).toBeUndefined();
    const response = reduce(events);
    expect(response).toMatchObject({ status: "error", metadata: { finishReason: "error" } });
    expect(response.documents.at(-1)).toMatchObject({
      type: "error",
      metadata: { errorCode: "INTERRUPTED", source: "server" },
    });
    expect(await restarted.read(path)).toEqual(response);
    const tail = await readEvents(
      await restarted.fetch(`${path}/events`, { headers: { "Last-Event-ID": `${seen.at(-1)!.id}` } }),
    );
    expect(tail).toEqual(events.slice(seen.length));
    const { conversationId } = response;
    expect((await restarted.readConversation(conversationId)).turns).toHaveLength(1);
    expect(readFileSync(join(cwd, "count.txt"), "utf8")).toBe("run\n");
  });

  test(verifies(["R-04", "X8"], "says of a call that waited for a person that it did not run"), async () => {
    const call = { call: { tool: "run_terminal_cmd", arguments: { command: "echo run > ran.txt" } } };
    const options = {
      cwd: folders.newFolder(),
      script: { turns: [{ events: [call] }] },
      args: ["--sandbox", "disabled"],
    };
    const server = await startServerProcess({ home: `${options.cwd}-home`, ...options });
    const answer = await server.chat({ message: "go", stream: true, approvals: "ask" });
    await readEvents(answer, ({ event }) => event === "approval_request");
    await server.stop("SIGKILL");
    const restarted = await startServer({ ...options, home: server.home });
    const readContents = async () =>
      (await restarted.read<ChatResponse>(answer.headers.get("location")!)).documents.map(({ content }) => content);
    // The server listens before it ends what the other one left.
    await expect
      .poll(readContents)
      .toEqual([
        null,
        "the process ended while this call waited for an answer; it did not run",
        expect.stringContaining("send the message again"),
      ]);
  });
});
