/** Models, packages and MCP servers through the proxy of the user's environment, through the real program. */
import { createServer, request as startRequest, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { shortAnswers } from "../../packages/models/test/live/live-setup.ts";
import { serveHttp } from "../support/http-server.ts";
import { createModelServer } from "../support/model-server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

const ask = (baseUrl: string, environment: Readonly<Record<string, string>>) =>
  runSheaf(
    [
      "-p",
      "--model",
      "openai-compatible/m",
      "--base-url",
      baseUrl,
      "--api-key",
      "CANARY-key-1",
      "--output-format",
      "text",
      "hi",
    ],
    { cwd: folders.newFolder(), environment },
  );

test("requests go through it, also for the list of models; NO_PROXY and this machine are left out", async () => {
  const proxy = await createModelServer({ chunks: shortAnswers["openai-chat"] });
  onTestFinished(() => proxy.close());
  const answered = await ask("http://model.invalid/v1", { HTTP_PROXY: proxy.url });
  expect([answered.code, answered.stdout]).toEqual([0, "Hello\n"]);
  expect(answered.stderr).toMatch(/^sheaf: notice: the provider did not report the tokens of [^\n]*\n$/);
  expect(proxy.requests.map(({ path }) => path)).toEqual(["http://model.invalid/v1/chat/completions"]);
  proxy.answer({ chunks: [JSON.stringify({ data: [{ id: "m" }] })] });
  const words = ["models", "openai-compatible", "--base-url", "http://model.invalid/v1"];
  const listed = await runSheaf(words, { cwd: folders.newFolder(), environment: { http_proxy: proxy.url } });
  expect([listed.code, listed.stdout, listed.stderr]).toEqual([0, "openai-compatible/m\n", ""]);
  expect(proxy.requests.at(-1)!.path).toBe("http://model.invalid/v1/models");

  const left = await ask("http://model.invalid/v1", { HTTP_PROXY: proxy.url, NO_PROXY: "model.invalid" });
  expect([left.code, left.stderr]).toEqual([5, expect.stringContaining("no host has this name")]);
  const own = await createModelServer({ chunks: shortAnswers["openai-chat"] });
  onTestFinished(() => own.close());
  expect((await ask(`${own.url}/v1`, { HTTP_PROXY: proxy.url })).stdout).toBe("Hello\n");
  expect(proxy.requests).toHaveLength(2);
});

test(
  verifies(["S-42", "C21"], "an encrypted address is tunnelled: the proxy sees no key; its password is not shown"),
  async () => {
    const heads: IncomingMessage[] = [];
    const proxy = createServer();
    proxy.on("connect", (request: IncomingMessage, socket: Socket) => {
      heads.push(request);
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    });
    await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const url = `http://me:CANARY-password@127.0.0.1:${port}`;
    const { code, stdout, stderr } = await ask("https://model.invalid/v1", { HTTPS_PROXY: url });
    expect([code, stdout]).toEqual([5, ""]);
    expect(stderr).toMatch(
      /^sheaf: NETWORK: [^\n]*407[^\n]*: check the address, user and password in HTTPS_PROXY[^\n]*\n$/,
    );
    expect(stderr).not.toContain("CANARY");
    expect(heads.map(({ url: target }) => target)).toEqual(["model.invalid:443"]);
    expect(JSON.stringify(heads.map(({ rawHeaders }) => rawHeaders))).not.toContain("CANARY-key");
  },
);

test(verifies(["C20", "C21"], "a proxy that is not one, and one that is not running, are reported"), async () => {
  const none = await ask("https://model.invalid/v1", { HTTPS_PROXY: "socks5://h:1" });
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringMatching(/^sheaf: CONFIG_INVALID: HTTPS_PROXY is not the address of a proxy/),
  ]);
  const closed = await createModelServer();
  await closed.close();
  const away = await ask("https://model.invalid/v1", { HTTPS_PROXY: closed.url });
  expect([away.code, away.stderr]).toEqual([
    5,
    expect.stringContaining("where a proxy should be: start it, or correct HTTPS_PROXY"),
  ]);
});

/** A proxy that leads every plain request to one port of this machine. */
async function createForwarder(port: number) {
  const asked: string[] = [];
  const url = await serveHttp((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { pathname, search } = new URL(request.url!);
    const { method, headers } = request;
    const forwarded = startRequest({ port, method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  return { asked, url };
}

test(
  verifies("C9", "a server of MCP is reached through it; a proxy that is not one is reported by sheaf mcp list"),
  async () => {
    const program = join(import.meta.dirname, "../support/mcp-server.ts");
    const server = spawn(process.execPath, [program, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void server.kill());
    const port = await new Promise<number>((resolve) => {
      server.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())));
    });
    const proxy = await createForwarder(port);
    const call = { tool: "mcp__math__add", arguments: { a: 2, b: 3 } };
    const cwd = folders.newFolder({
      "s.json": JSON.stringify({ turns: [{ events: [{ call }] }, { events: [{ text: "Done." }] }] }),
      "home/config.json": JSON.stringify({ mcpServers: { math: { url: "http://mcp.invalid/mcp" } } }),
    });
    const runWith = (args: readonly string[], address: string) =>
      runSheaf(args, { cwd, home: join(cwd, "home"), environment: { HTTP_PROXY: address } });
    const reached = await runWith(["-p", "--model", "scripted:s.json", "--force", "go"], proxy.url);
    expect([reached.code, reached.stderr]).toEqual([0, ""]);
    expect(reached.stdout).toContain('"success":{"content":[{"text":{"text":"5"}}]');
    expect(proxy.asked).toContain("POST http://mcp.invalid/mcp");
    const listed = await runWith(["mcp", "list"], "socks5://CANARY");
    expect(listed.stdout).toMatch(/^math: failed \(HTTP_PROXY is not the address of a proxy: [^\n]*\)\n$/);
    expect(listed.stdout).not.toContain("CANARY");
  },
);

/** A package of the user's that asks its server by the `fetch` that it is given, as those of the AI SDK do. */
const packageSource = `
export const createAsker = ({ fetch }) => (modelId) => ({
  specificationVersion: "v4", provider: "asker", modelId, supportedUrls: {},
  async doStream({ abortSignal }) {
    const init = { method: "POST", body: "who?", headers: { "content-type": "text/plain" }, signal: abortSignal };
    const answer = await fetch("http://asked.invalid/v1", init);
    if (answer.status !== 200) throw Object.assign(new Error("refused"), { statusCode: answer.status });
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    return { stream: answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
      start: (out) => out.enqueue({ type: "text-start", id: "t" }),
      transform: (delta, out) => out.enqueue({ type: "text-delta", id: "t", delta }),
      flush: (out) => {
        out.enqueue({ type: "text-end", id: "t" });
        out.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage });
      },
    })) };
  },
});
`;

test(
  verifies(["S-42", "R-10"], "a package is given a fetch that leads through it and follows no redirect"),
  async () => {
    const proxy = await createModelServer({ chunks: ["I am ", "the server."] });
    onTestFinished(() => proxy.close());
    const home = folders.newFolder({
      "node_modules/asker/package.json": '{"name":"asker","type":"module","exports":"./index.js"}',
      "node_modules/asker/index.js": packageSource,
      "config.json": JSON.stringify({
        providers: { asker: { package: "asker" } },
        limits: { maxTries: 1 },
      }),
    });
    const runWith = (address: string) => {
      const args = ["-p", "--output-format", "text", "--model", "asker/m", "--api-key", "k", "go"];
      return runSheaf(args, { cwd: folders.newFolder(), home, environment: { HTTP_PROXY: address } });
    };
    const answered = await runWith(proxy.url);
    expect([answered.code, answered.stdout, answered.stderr]).toEqual([0, "I am the server.\n", ""]);
    expect(proxy.requests).toMatchObject([{ path: "http://asked.invalid/v1", body: "who?" }]);

    proxy.answer({ status: 307, headers: { location: "http://elsewhere.invalid/" } });
    expect((await runWith(proxy.url)).code).not.toBe(0);
    expect(proxy.requests.map(({ path }) => path)).toEqual(Array(2).fill("http://asked.invalid/v1"));

    proxy.answer({ chunks: ["I am "], after: "reset" });
    const broken = await runWith(proxy.url);
    expect([broken.code, broken.stderr]).toEqual([5, expect.stringMatching(/^sheaf: (NETWORK|STREAM_TRUNCATED): /)]);

    const closed = await createModelServer();
    await closed.close();
    const away = await runWith(closed.url);
    expect([away.code, away.stderr]).toEqual([5, expect.stringContaining("where a proxy should be: start it")]);
  },
);
