/** Models behind the proxy of the user's environment, through the real program. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { shortAnswers } from "../../packages/agent/test/providers/live/live-setup.ts";
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
  expect([answered.code, answered.stdout, answered.stderr]).toEqual([0, "Hello\n", ""]);
  expect(proxy.requests.map(({ path }) => path)).toEqual(["http://model.invalid/v1/chat/completions"]);
  proxy.answer({ chunks: [JSON.stringify({ data: [{ id: "m" }] })] });
  const words = ["models", "openai-compatible", "--base-url", "http://model.invalid/v1"];
  const listed = await runSheaf(words, { cwd: folders.newFolder(), environment: { http_proxy: proxy.url } });
  expect([listed.code, listed.stdout, listed.stderr]).toEqual([0, "openai-compatible/m\n", ""]);
  expect(proxy.requests.at(-1)!.path).toBe("http://model.invalid/v1/models");

  const left = await ask("http://model.invalid/v1", { HTTP_PROXY: proxy.url, NO_PROXY: "model.invalid" });
  expect([left.code, left.stderr]).toEqual([5, expect.stringContaining("no host of this name is known")]);
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
    expect(stderr).toMatch(/^sheaf: NETWORK: [^\n]*407[^\n]*: check HTTPS_PROXY, its name and its password[^\n]*\n$/);
    expect(stderr).not.toContain("CANARY");
    expect(heads.map(({ url: target }) => target)).toEqual(["model.invalid:443"]);
    expect(JSON.stringify(heads.map(({ rawHeaders }) => rawHeaders))).not.toContain("CANARY-key");
  },
);

test(verifies(["C20", "C21"], "a proxy that is none, and one that is not started, are told"), async () => {
  const none = await ask("https://model.invalid/v1", { HTTPS_PROXY: "socks5://h:1" });
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringMatching(/^sheaf: CONFIG_INVALID: HTTPS_PROXY names no proxy/),
  ]);
  const closed = await createModelServer();
  await closed.close();
  const away = await ask("https://model.invalid/v1", { HTTPS_PROXY: closed.url });
  expect([away.code, away.stderr]).toEqual([
    5,
    expect.stringContaining("where a proxy should be: start it, or correct HTTPS_PROXY"),
  ]);
});
