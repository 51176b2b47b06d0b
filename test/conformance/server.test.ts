/** The Chat API through a real socket: one message, its response, its events (section 7 of docs/formats/documents.md). */
import { spawnSync } from "node:child_process";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { createStreamDecoder, type StreamEvent } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { describe, expect, test } from "vitest";
import { skipIfMissing } from "../support/describe-where.ts";
import { findMissing } from "../support/programs.ts";
import { startServer, startServerProcess, type ServerProcess } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const readScript = {
  turns: [
    {
      events: [
        { text: "I read. ", chunk: 3 },
        { call: { tool: "read_file", arguments: { target_file: "README.md" } } },
      ],
    },
    { events: [{ reasoning: "hm" }, { text: "Done:\n\n```js\nlet a = 1;\n```\n", chunk: 4 }] },
  ],
  after: "loop",
};

/** Everything that comes until the server closes the connection. */
async function readToClose(port: number, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  return readText(socket);
}

/** What follows the n-th head. */
const toBody = (answers: string, count: number): string => answers.split("\r\n\r\n").slice(count).join("\r\n\r\n");

/** RFC 9112, 7.1. The script has ASCII only. */
function joinChunks(body: string): string {
  let joined = "";
  for (let rest = body; ;) {
    const end = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.slice(0, end), 16);
    if (length === 0) {
      expect(rest).toBe("0\r\n\r\n");
      return joined;
    }
    joined += rest.slice(end + 2, end + 2 + length);
    expect(rest.slice(end + 2 + length, end + 4 + length)).toBe("\r\n");
    rest = rest.slice(end + 4 + length);
  }
}

const decode = (body: string): StreamEvent[] => {
  const decoder = createStreamDecoder();
  return [...decoder.push(body), ...decoder.end()];
};

describe("the events of a response", () => {
  test("are framed for the connection: after another answer, and for a client of HTTP/1.0", async () => {
    const server = await startServer({ script: readScript });
    const body = '{"message":"go","stream":true}';
    const head = [`Host: 127.0.0.1:${server.port}`, `Authorization: Bearer ${server.token}`, "Connection: close"];
    const toPost = (version: string): string =>
      `POST /v1/chat HTTP/${version}\r\n${head.join("\r\n")}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const before = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
    const behind = await readToClose(server.port, before + toPost("1.1"));
    expect(behind).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*{"status":"ok"}HTTP\/1.1 200 OK\r\n/);
    const events = decode(joinChunks(toBody(behind, 2)));
    expect(verify(events)).toBeUndefined();
    expect(events.at(-1)?.event).toBe("done");
    const old = await readToClose(server.port, toPost("1.0"));
    expect(old).not.toMatch(/transfer-encoding/i);
    expect(decode(toBody(old, 1)).map(({ event }) => event)).toEqual(events.map(({ event }) => event));
  });
});

test(verifies("C20", "a workspace that is named with a space is no folder"), async () => {
  const args = ["serve", "--model", "offline", "--port", "0", "--workspace", "my app=/srv"];
  const { code, stderr } = await runSheaf(args, { cwd: folders.newFolder() });
  expect([code, stderr]).toEqual([2, expect.stringContaining('"my app" cannot be the name of a workspace')]);
});

describe("the models", () => {
  test(verifies("C20", "of a server without one are asked for at its start"), async () => {
    const { code, stdout, stderr } = await runSheaf(["serve", "--port", "0"], { cwd: folders.newFolder() });
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^sheaf: AUTH_REQUIRED: no model is chosen: .*--model anthropic\/.*--model offline.*\n$/);
  });

  test("that cannot be used are reported to the operator at the start", async () => {
    const server = await startServer({ args: ["--offer", "scripted:missing.json"] });
    await expect.poll(server.log).toContain('"level":"warn","event":"model_unusable","model":"scripted:missing.json"');
    expect(server.log()).toContain("CONFIG_INVALID");
    expect((await server.chat({ message: "go" })).status).toBe(200);
    expect(await server.ask({ message: "go", model: "scripted:missing.json" })).toMatchObject({
      status: "error",
      documents: [{ type: "error", metadata: { errorCode: "CONFIG_INVALID" } }],
    });
  });
});

describe("the process", () => {
  test("the process of the server keeps little room for new objects, unless its user chose another size", async () => {
    skipIfMissing(findMissing("ps"));
    const readOptions = ({ child }: ServerProcess): string =>
      spawnSync("ps", ["-o", "args=", "-p", `${child.pid}`], { encoding: "utf8" }).stdout;
    expect(readOptions(await startServerProcess())).toContain(" --max-semi-space-size=16 ");
    const environment = { NODE_OPTIONS: "--max-semi-space-size=32" };
    const server = await startServerProcess({ environment });
    expect(readOptions(server)).not.toContain("semi-space");
  });

  test("a signal ends the server with code 0", async () => {
    const server = await startServerProcess();
    await server.chat({ message: "one" });
    expect(await server.stop()).toBe(0);
  });
});
