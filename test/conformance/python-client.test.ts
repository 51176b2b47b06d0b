/** The Python client at a real server: its types, its example, and streams over connections that break. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { ChatResponse, StreamEvent } from "@sheaf/protocol";
import { expect, onTestFinished, test } from "vitest";
import { formatPythonTypes, pythonTypesFile } from "../../scripts/python-types.ts";
import { serveHttp } from "../support/http-server.ts";
import { describeWithProgram } from "../support/programs.ts";
import { readEvents, startServer, startServerProcess, type TestServer } from "../support/server.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { verifies } from "../support/verifies.ts";

const root = join(import.meta.dirname, "../../clients/python");
const readme = readFileSync(join(root, "README.md"), "utf8");

test(verifies("X10", "the committed types of Python are those of the API: npm run python-types writes them"), () => {
  expect(readFileSync(pythonTypesFile, "utf8")).toBe(formatPythonTypes());
});

test("the stream reader of Python stays short", () => {
  expect(readFileSync(join(root, "sheaf_client/stream.py"), "utf8").split("\n").length).toBeLessThanOrEqual(301);
});

/** Runs a program, and calls `onLine` for each line of its output; resolves to all lines. */
async function runPython(
  code: string,
  address: string,
  token: string,
  onLine: (line: string) => unknown = () => undefined,
): Promise<string[]> {
  const child = spawn("python3", ["-u", "-c", code], {
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: root,
      PYTHONDONTWRITEBYTECODE: "1",
      SHEAF_ADDRESS: address,
      SHEAF_TOKEN: token,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let problems = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (problems += text));
  const ended = new Promise<number | null>((resolve) => void child.on("close", resolve));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    await onLine(line);
  }
  expect([await ended, problems]).toEqual([0, ""]);
  return lines;
}

const begin = `
import json, os
from sheaf_client import ApiError, Client, Reconnect, StreamBrokenError, TransportError
reconnect = Reconnect(delay=0.1, max_delay=0.2, max_tries=60)
client = Client(os.environ["SHEAF_ADDRESS"], os.environ["SHEAF_TOKEN"], reconnect=reconnect)
def show(value):
    print(json.dumps(value))
`;

/** Prints each event, then the response. */
const readAll = `${begin}
stream = client.chat("go")
for event in stream:
    show(event)
show(stream.read_to_end())
`;

const toAddress = ({ port }: { readonly port: number }): string => `http://127.0.0.1:${port}`;

/** What `readAll` printed. */
function parseAll(lines: readonly string[]): { events: StreamEvent[]; response: ChatResponse } {
  const values = lines.map((line) => JSON.parse(line) as unknown);
  return { response: values.pop() as ChatResponse, events: values as StreamEvent[] };
}

/** All events of a response, as the server keeps them. */
async function readKept(server: TestServer, { id }: ChatResponse): Promise<StreamEvent[]> {
  return readEvents(await server.fetch(`/v1/responses/${id}/events`));
}

async function startBehindProxy(script: unknown) {
  const ports: number[] = [];
  const proxy = await startTcpProxy(() => ports[0]!);
  const server = await startServer({ script, args: ["--allow-host", `127.0.0.1:${proxy.port}`] });
  ports.push(server.port);
  return { server, proxy };
}

const words = Array.from({ length: 12 }, (_, index) => [{ text: `Word ${index}.\n\n` }, { wait_ms: 40 }]);
const slow = { turns: [{ events: words.flat() }], after: "loop" };
const call = { call: { tool: "run_terminal_cmd", arguments: { command: "echo run > ran.txt" } } };
const asking = { turns: [{ events: [{ text: "I run it. " }, call] }, { events: [{ text: "Done." }] }], after: "loop" };

describeWithProgram("python3", () => {
  test(verifies(["X8", "X9"], "the examples of the Python README work, and answer an approval"), async () => {
    const server = await startServer({ script: asking, args: ["--sandbox", "disabled"] });
    const blocks = [...readme.matchAll(/```python\n([^]*?)```/g)].map(([, code]) => code);
    expect(readme.indexOf("```python")).toBeLessThan(150);
    const lines = await runPython(blocks.join("\n"), server.address, server.token);
    expect(lines.at(-1)).toMatch(/^Done\.completed \['text', 'terminal_command', 'text'\]$/);
    expect(existsSync(join(server.cwd, "ran.txt"))).toBe(true);
  });

  test(
    verifies(["X2", "N51"], "Python reads each event once and in order, over a connection cut many times"),
    async () => {
      const { server, proxy } = await startBehindProxy(slow);
      let cuts = 0;
      const lines = await runPython(readAll, toAddress(proxy), server.token, (line) => {
        if (!line.includes('"event": "document_') && !line.includes("Word 5")) return;
        cuts += 1;
        proxy.cut();
        proxy.mend();
      });
      const { events, response } = parseAll(lines);
      expect(cuts).toBeGreaterThan(2);
      expect(events).toEqual(await readKept(server, response));
      expect(response.status).toBe("completed");
    },
  );

  test(verifies("X9", "Python sends a message once whose answer was lost"), async () => {
    const { server, proxy } = await startBehindProxy(asking);
    proxy.loseAnswers("POST /v1/chat", 2);
    const { events, response } = parseAll(await runPython(readAll, toAddress(proxy), server.token));
    expect(proxy.toLose).toBe(0);
    expect(events).toEqual(await readKept(server, response));
    const { conversations } = await server.read<{ conversations: object[] }>("/v1/conversations");
    expect(conversations).toHaveLength(1);
  });

  test(verifies(["N51", "R-01"], "Python continues after a server that was killed and started again"), async () => {
    const script = {
      turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Done." }] }],
      after: "loop",
    };
    const first = await startServerProcess({ script });
    const lines = await runPython(readAll, first.address, first.token, async (line) => {
      if (!line.includes('"delta": "Begun.')) return;
      await first.stop("SIGKILL");
      await startServerProcess({ cwd: first.cwd, script, args: ["--port", `${first.port}`] });
    });
    const { events, response } = parseAll(lines);
    expect(response).toMatchObject({ status: "error", documents: [{ type: "text" }, { type: "error" }] });
    expect(events.map(({ id }) => id)).toEqual([...new Set(events.map(({ id }) => id))].toSorted((a, b) => a - b));
    expect(events.at(-1)?.event).toBe("done");
  });

  test.each([
    ["silent for three heartbeats", "wait", ["response_start", "document_start", "document_end", "done"]],
    ["ended before done", "end", ["response_start", "document_start", "document_end", "done"]],
    ["refused with 503", 503, ["response_start", "document_start", "document_end", "done"]],
    ["without its events", 404, ["response_start", "document_start", "snapshot"]],
    ["with nothing more", 204, ["response_start", "document_start", "snapshot"]],
  ] as const)(verifies(["X2", "X5", "N51"], "Python continues where a stream is %s"), async (_, fault, expected) => {
    const { address, requests } = await startFake(fault);
    const { events } = parseAll(await runPython(readAll, address, "secret"));
    expect(events.map(({ event }) => event)).toEqual(expected);
    const resumed = requests.filter((request) => request.includes("/events"));
    expect([...new Set(resumed)]).toEqual(["GET /v1/responses/chat_1/events 2"]);
  });

  test(verifies("N51", "Python raises its exceptions, with the server's code and message"), async () => {
    const server = await startServer({ script: slow });
    const { address } = await startFake("forever");
    const full = await startFake(429);
    const code = `${begin}
def try_it(work):
    try:
        show(work())
    except ApiError as error:
        show([error.status, error.code, str(error)])
    except (TransportError, StreamBrokenError, ValueError) as error:
        show([type(error).__name__, str(error)])
address, quick = os.environ["SHEAF_ADDRESS"], Reconnect(delay=0.1, max_delay=0.1, max_tries=2)
try_it(lambda: Client(address, "wrong").chat("go").read_to_end())
try_it(lambda: client.get_response("chat_none"))
try_it(lambda: client.chat({"message": "go", "mode": "nonsense"}).read_to_end())
try_it(lambda: Client("http://127.0.0.1:1", "t", reconnect=quick).chat("go").read_to_end())
try_it(lambda: Client("ftp://here", "t"))
try_it(lambda: Client("${address}", "t", reconnect=quick).chat("go").read_to_end())
later = {"message": "later", "conversationId": "conv_1", "whenBusy": "queue"}
try_it(lambda: Client("${full.address}", "t", reconnect=quick).chat(later).read_to_end())
`;
    const lines = await runPython(code, server.address, server.token);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      [401, "AUTH_REJECTED", expect.stringContaining("token")],
      [404, "NOT_FOUND", expect.stringContaining("chat_none")],
      [400, "USAGE", expect.stringContaining("mode")],
      ["TransportError", expect.stringMatching(/^POST \/v1\/chat got no answer from 127\.0\.0\.1: /)],
      ["ValueError", expect.stringContaining('"ftp://here" is not the address of a server')],
      ["StreamBrokenError", expect.stringContaining("it broke after event 2, and 2 more connections brought nothing")],
      [429, "HTTP_429", expect.any(String)],
    ]);
    expect(full.requests).toHaveLength(1);
  });

  test(verifies(["X7", "X8"], "Python rejects a call, cancels a run, and lists conversations"), async () => {
    const turns = [...asking.turns, { events: [{ text: "Begun. " }, { wait_ms: 60_000 }, { text: "Never." }] }];
    const server = await startServer({ script: { turns }, args: ["--sandbox", "disabled"] });
    const code = `${begin}
stream = client.chat({"message": "go", "approvals": "ask"})
for event in stream:
    if event["event"] == "approval_request":
        show(client.reject(stream.response_id, event["data"], message="Not now."))
show(stream.read_to_end()["status"])
second = client.chat({"message": "more", "conversationId": stream.conversation_id})
for event in second:
    if event["event"] == "content_delta":
        show(client.cancel(second.response_id))
        break
show([event["event"] for event in client.follow(second.response_id, after=second.last_event_id)][-1])
show([event["event"] for event in client.follow(second.response_id, snapshot=True)])
show([len(client.get_conversation(found["id"])["turns"]) for found in client.list_conversations(search="more")["conversations"]])
client.delete_conversation(stream.conversation_id)
show(client.list_conversations(limit=1)["conversations"])
show([model["id"] for model in client.list_models()["models"]])
`;
    const lines = await runPython(code, server.address, server.token);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { approvalId: expect.any(String) as string, optionId: "reject_once" },
      "completed",
      { id: expect.stringMatching(/^chat_/) as string, status: "cancelling" },
      "done",
      ["snapshot", "done"],
      [2],
      [],
      [server.model],
    ]);
    expect(existsSync(join(server.cwd, "ran.txt"))).toBe(false);
  });
});

/** A server of one response. Behind its second event comes the fault, once or for ever. */
async function startFake(fault: "wait" | "end" | "forever" | number) {
  const id = "chat_1";
  const response = { id, conversationId: "conv_1", status: "completed", documents: [], metadata: { lastEventId: 4 } };
  const events = [
    ["response_start", { ...response, status: "streaming", heartbeat_ms: 100 }],
    ["document_start", { id: "doc_001", type: "text", sequence: 1 }],
    ["document_end", { documentId: "doc_001", finalContent: "" }],
    ["done", { id, status: "completed", usage: {} }],
  ].map(([event, data], index) => `id: ${index + 1}\nevent: ${event as string}\ndata: ${JSON.stringify(data)}\n\n`);
  const requests: string[] = [];
  const address = await serveHttp(({ method, url, headers }, answer) => {
    requests.push(`${method} ${url} ${String(headers["last-event-id"])}`);
    const stream = { "content-type": "text/event-stream", "x-response-id": id };
    if (fault === 429) {
      answer.writeHead(429, { "retry-after": "0" }).end();
    } else if (method === "POST") {
      answer.writeHead(200, stream).write(`retry: 100\n\n${events.slice(0, 2).join("")}id: 3\nevent: docu`);
      if (fault !== "wait") answer.end();
    } else if (url === `/v1/responses/${id}`) {
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(response));
    } else if (typeof fault === "number" && (fault < 500 || requests.length === 2)) {
      answer.writeHead(fault).end();
    } else {
      // Event 2 comes twice: the client drops what it has.
      answer.writeHead(200, stream).end(fault === "forever" ? ": \n" : events.slice(1).join(""));
    }
  });
  return { address, requests };
}
