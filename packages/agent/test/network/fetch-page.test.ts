import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { SheafError } from "@sheaf/base/errors";
import { createPageFetcher } from "../../src/network/fetch-page.ts";

/** A server on the loopback interface, reached under names of hosts that are taken as public. */
async function createSite(answer: (request: IncomingMessage, response: ServerResponse) => void, timeoutMs = 5000) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lookups: string[] = [];
  const fetcher = createPageFetcher({
    resolveHost: async (host) => {
      lookups.push(host);
      return [{ address: "127.0.0.1", family: 4 }];
    },
    isAllowed: (address) => address === "127.0.0.1",
    timeoutMs,
  });
  const fetchPath = (path: string, signal = new AbortController().signal) =>
    fetcher.fetchPage(`http://site.example:${port}${path}`, signal);
  return { port, requests, lookups, fetchPath, fetcher };
}

const { signal } = new AbortController();

describe("a page", () => {
  test("comes as text: HTML as Markdown, unpacked, in its own encoding", async () => {
    const html = "<title>Gr\u00fc\u00dfe</title><body><h1>Gr\u00fc\u00dfe</h1><p>an alle</p>";
    const text = "# Gr\u00fc\u00dfe\n\nan alle";
    const latin = Buffer.from(html, "latin1");
    const answers: Record<string, [headers: Record<string, string>, body: Uint8Array, text: string]> = {
      "/plain": [{ "content-type": "text/html; charset=utf-8" }, Buffer.from(html), text],
      "/latin": [{ "content-type": "text/html; charset=ISO-8859-1" }, latin, text],
      "/meta": [{ "content-type": "text/html" }, Buffer.concat([Buffer.from('<meta charset="latin1">'), latin]), text],
      "/utf16": [{ "content-type": "text/html" }, Buffer.from(`\uFEFF${html}`, "utf16le"), text],
      "/gzip": [{ "content-type": "text/html", "content-encoding": "gzip" }, gzipSync(html), text],
      "/deflate": [{ "content-type": "text/html", "content-encoding": "deflate" }, deflateSync(html), text],
      "/br": [{ "content-type": "text/html", "content-encoding": "br" }, brotliCompressSync(html), text],
      "/json": [{ "content-type": "application/problem+json" }, Buffer.from('{"a":1}'), '{"a":1}'],
      "/markdown": [{ "content-type": "text/markdown" }, Buffer.from("# <b>"), "# <b>"],
      "/untyped": [{}, Buffer.from("just text"), "just text"],
      "/wrong": [{ "content-type": "text/plain; charset=nonsense" }, Buffer.from([65, 255]), "A\uFFFD"],
    };
    const site = await createSite((request, response) => {
      const [headers, body] = answers[request.url!]!;
      response.writeHead(200, headers).end(body);
    });
    for (const [path, [, , expected]] of Object.entries(answers)) {
      const result = await site.fetchPath(path);
      expect(result, path).toMatchObject({ ok: true, page: { text: expected, isCut: false } });
    }
    const [first] = site.requests;
    expect(first!.headers).toMatchObject({
      host: `site.example:${site.port}`,
      "user-agent": expect.stringMatching(/^sheaf\//) as string,
    });
    for (const name of ["cookie", "authorization", "referer"]) expect(first!.headers).not.toHaveProperty(name);
  });

  test(verifies("R-14", "is cut at its limit, packed or not, endless or not"), async () => {
    const site = await createSite((request, response) => {
      const isPacked = request.url === "/bomb";
      response.writeHead(200, { "content-type": "text/plain", ...(isPacked && { "content-encoding": "gzip" }) });
      if (isPacked) response.end(gzipSync(Buffer.alloc(200_000_000, "x"), { level: 9 }));
      else {
        const write = (): void => {
          while (!response.destroyed && response.write("endless ".repeat(8192)));
          response.once("drain", write);
        };
        write();
      }
    });
    for (const path of ["/bomb", "/endless"]) {
      const before = process.memoryUsage().rss;
      const result = await site.fetchPath(path);
      expect(result, path).toMatchObject({ ok: true, page: { bytes: 2 * 1024 * 1024, isCut: true } });
      expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
    }
  });

  test("that is no page is an error that says why", async () => {
    const site = await createSite((request, response) => {
      const status = Number(request.url!.slice(1)) || 200;
      const types: Record<string, Record<string, string>> = {
        "/image": { "content-type": "image/png" },
        "/odd": { "content-type": "text/plain", "content-encoding": "zzz" },
        "/broken": { "content-type": "text/plain", "content-encoding": "gzip" },
      };
      if (request.url === "/reset") return void request.socket.destroy();
      response.writeHead(status, types[request.url!] ?? {}).end("body");
    });
    for (const [path, code, message] of [
      ["/404", "HTTP_ERROR", /status 404/],
      ["/503", "HTTP_ERROR", /status 503/],
      ["/image", "NOT_TEXT", /image\/png/],
      ["/odd", "NOT_TEXT", /packed as zzz/],
      ["/broken", "NETWORK", /could not be fetched/],
      ["/reset", "NETWORK", /could not be fetched/],
    ] as const) {
      const result = await site.fetchPath(path);
      expect(result, path).toMatchObject({
        ok: false,
        error: { code, message: expect.stringMatching(message) as string },
      });
    }
  });

  test(verifies("R-10", "that does not come ends with the time limit or the run"), async () => {
    const site = await createSite((request, response) => {
      if (request.url === "/half") response.writeHead(200, { "content-type": "text/plain" }).write("half");
    }, 200);
    expect(await site.fetchPath("/never")).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    expect(await site.fetchPath("/half")).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    const controller = new AbortController();
    const fetched = site.fetchPath("/never", controller.signal);
    controller.abort();
    expect(await fetched).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    const hanging = createPageFetcher({
      resolveHost: () => new Promise(() => undefined),
      isAllowed: () => true,
      timeoutMs: 50,
    });
    expect(await hanging.fetchPage("http://site.example/", signal)).toMatchObject({ error: { code: "TIMEOUT" } });
  });
});

describe("redirects", () => {
  test(verifies("S-32", "are followed within a host only; another host is named, not asked"), async () => {
    const site = await createSite((request, response) => {
      const targets: Record<string, string> = {
        "/a": "/b",
        "/b": "c#part",
        "/other": "https://other.example/x",
        "/local": "http://127.0.0.1:22/",
        "/metadata": "http://169.254.169.254/latest/",
        "/file": "file:///etc/passwd",
        "/user": "http://name:word@site.example/",
        "/loop": "/loop",
        "/odd": "http://[",
      };
      const target = targets[request.url!];
      if (target === undefined) response.writeHead(200, { "content-type": "text/plain" }).end("here");
      else response.writeHead(302, { location: target }).end();
    });
    expect(await site.fetchPath("/a")).toMatchObject({
      ok: true,
      page: { text: "here", url: `http://site.example:${site.port}/c` },
    });
    const asked = site.requests.length;
    for (const [path, message] of [
      ["/other", /redirects to https:\/\/other\.example\/x: call web_fetch/],
      ["/local", /redirects to http:\/\/127\.0\.0\.1:22\//],
      ["/metadata", /redirects to http:\/\/169\.254/],
      ["/file", /not a web address/],
      ["/user", /not a web address/],
      ["/odd", /not a web address/],
    ] as const) {
      const result = await site.fetchPath(path);
      expect(result, path).toMatchObject({
        ok: false,
        error: { code: "REDIRECTED", message: expect.stringMatching(message) as string },
      });
    }
    expect(site.requests.length).toBe(asked + 6);
    expect(await site.fetchPath("/loop")).toMatchObject({ ok: false, error: { code: "REDIRECTED" } });
    expect(new Set(site.lookups)).toEqual(new Set(["site.example"]));
  });
});

describe("an address", () => {
  test(
    verifies("S-32", "of a host that is not public is refused before anything is sent, in every spelling"),
    async () => {
      const site = await createSite((_request, response) => response.end("reached"));
      const { port } = site;
      const fetcher = createPageFetcher();
      for (const host of [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "017700000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "0",
        "[::]",
        "localhost.",
        "127.0.0.1.",
        "①②⑦.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "[fe80::1]",
        "[fd00::1]",
      ]) {
        const result = await fetcher.fetchPage(`http://${host}:${port}/`, signal);
        expect(result, host).toMatchObject({
          ok: false,
          error: { code: expect.stringMatching(/ADDRESS_REFUSED|INVALID_URL|NETWORK/) as string },
        });
      }
      expect(site.requests).toEqual([]);
    },
  );

  test(verifies("S-32", "is looked up once; a name that leads to a public and a private one is refused"), async () => {
    const site = await createSite((_request, response) =>
      response.writeHead(200, { "content-type": "text/plain" }).end("reached"),
    );
    await site.fetchPath("/");
    expect(site.lookups).toEqual(["site.example"]);
    const mixed = createPageFetcher({
      resolveHost: async () => [
        { address: "127.0.0.1", family: 4 },
        { address: "127.0.0.2", family: 4 },
      ],
      isAllowed: (address) => address === "127.0.0.1",
      timeoutMs: 2000,
    });
    const result = await mixed.fetchPage(`http://site.example:${site.port}/`, signal);
    expect(result).toMatchObject({ ok: false, error: { code: "ADDRESS_REFUSED" } });
    expect(site.requests).toHaveLength(1);
  });

  test("that is none of the web is refused", async () => {
    const fetcher = createPageFetcher();
    for (const url of [
      "",
      "no url",
      "ftp://example.org/",
      "file:///etc/passwd",
      "http://user:word@example.org/",
      "http://",
      "javascript:alert(1)",
      "http://example.org:25/",
      "https://example.org:22/",
      `http://example.org/${"x".repeat(5000)}`,
      "data:text/plain,x",
    ]) {
      expect(await fetcher.fetchPage(url, signal), url.slice(0, 40)).toMatchObject({
        ok: false,
        error: { code: "INVALID_URL" },
      });
    }
  });
});

describe("behind a proxy", () => {
  const publicAddress = "93.184.215.14";

  /** A proxy that leads every tunnel to one port of this machine, and notes what it was asked. */
  async function createTunnels(port: number, { status = 200 } = {}) {
    const asked: { readonly authority: string; readonly credentials: string | undefined }[] = [];
    const sent: Buffer[] = [];
    const server = createServer((_request, response) => void response.writeHead(400).end());
    server.on("connect", (request: IncomingMessage, client: Socket) => {
      asked.push({ authority: request.url!, credentials: request.headers["proxy-authorization"] });
      if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      const site = connect(port, "127.0.0.1");
      for (const socket of [client, site]) socket.on("error", () => undefined);
      client.on("data", (chunk: Buffer) => sent.push(chunk));
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(site).pipe(client);
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const fetcher = createPageFetcher({
      findProxy: () => `http://me:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}/`,
      resolveHost: async (host) => [{ address: host === "inner.example" ? "10.0.0.1" : publicAddress, family: 4 }],
    });
    return { asked, sent, fetcher };
  }

  test(verifies("S-32", "the proxy is told the address that was looked at, never the name"), async () => {
    const site = await createSite((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/here" }).end();
      else response.writeHead(200, { "content-type": "text/plain" }).end(`for ${request.headers.host}`);
    });
    const { asked, fetcher } = await createTunnels(site.port);
    expect(await fetcher.fetchPage("http://site.example/moved", signal)).toMatchObject({
      ok: true,
      page: { url: "http://site.example/here", text: "for site.example" },
    });
    const credentials = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
    expect(asked).toEqual([0, 1].map(() => ({ authority: `${publicAddress}:80`, credentials })));
    for (const { headers } of site.requests) expect(headers).not.toHaveProperty("proxy-authorization");
  });

  test(verifies("S-32", "an encrypted page is encrypted for its own host within the tunnel"), async () => {
    const site = await createSite(() => undefined);
    const { asked, sent, fetcher } = await createTunnels(site.port);
    // The site speaks no TLS: the handshake fails, behind its first message.
    expect(await fetcher.fetchPage("https://site.example/secret", signal)).toMatchObject({
      error: { code: "NETWORK" },
    });
    expect(asked.map(({ authority }) => authority)).toEqual([`${publicAddress}:443`]);
    const hello = Buffer.concat(sent).toString("latin1");
    // A record of the type "handshake", and the name that it asks for.
    expect(hello.charCodeAt(0)).toBe(22);
    expect(hello).toContain("site.example");
    expect(hello).not.toContain("secret");
  });

  test(verifies("S-32", "a host that is not public is refused before the proxy hears of it"), async () => {
    const { asked, fetcher } = await createTunnels(1);
    for (const host of ["inner.example", "127.0.0.1", "169.254.169.254", "[::1]"]) {
      const result = await fetcher.fetchPage(`http://${host}/`, signal);
      expect(result, host).toMatchObject({ ok: false, error: { code: "ADDRESS_REFUSED" } });
    }
    expect(asked).toEqual([]);
  });

  test(
    verifies(["S-42", "R-10"], "a proxy that refuses, is away, or cannot be read is told without its password"),
    async () => {
      const { fetcher } = await createTunnels(1, { status: 403 });
      const away = { resolveHost: async () => [{ address: publicAddress, family: 4 }] };
      const unknown = { resolveHost: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })) };
      const proxy = "http://me:CANARY@127.0.0.1:1/";
      const invalid = new SheafError("CONFIG_INVALID", "HTTPS_PROXY is not the address of a proxy");
      for (const [made, message] of [
        [fetcher, /the proxy refuses 93\.184\.215\.14:80 with status 403; .*or name the host in NO_PROXY/],
        [createPageFetcher({ ...away, findProxy: () => proxy }), /the proxy does not answer \(ECONNREFUSED\); /],
        [createPageFetcher({ ...unknown, findProxy: () => proxy }), /site\.example is not known here \(ENOTFOUND\); /],
        [
          createPageFetcher({
            ...away,
            findProxy: () => {
              throw invalid;
            },
          }),
          /: HTTPS_PROXY is not the address of a proxy/,
        ],
      ] as const) {
        const result = await made.fetchPage("http://site.example/", signal);
        expect(result).toMatchObject({ error: { code: "NETWORK", message: expect.stringMatching(message) as string } });
        expect(JSON.stringify(result)).not.toMatch(/CANARY|p@ss|p%40ss/);
      }
    },
  );
});
