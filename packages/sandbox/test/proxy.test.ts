/** The proxy of commands: parsed hosts only, resolved once, public addresses only (S-32). */
import { createServer as createWebServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, describe, expect, test } from "vitest";
import { skipIfMissing, unless } from "../../../test/support/describe-where.ts";
import { isPrivateAddress } from "@sheaf/base/public-address";
import { createProxy, parseAuthority, type Proxy, type ProxyPorts } from "../src/launch/proxy.ts";
import { verifies } from "../../../test/support/verifies.ts";

const open: Server[] = [];
afterAll(() => {
  for (const server of open) server.close();
});

async function listen(server: Server): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface TestProxy {
  readonly proxy: Proxy;
  /** What the proxy answers to these bytes, until it ends. */
  readonly ask: (bytes: string) => Promise<string>;
  /** Hosts that were resolved. */
  readonly resolved: string[];
}

/** A proxy that allows `allowed.test`, which is 127.0.0.1, and thinks of that as public. */
const admitAll = async () => ({ obstacle: "" });

async function startProxy(ports: Partial<ProxyPorts> = {}): Promise<TestProxy> {
  const resolved: string[] = [];
  const proxy = createProxy({
    admit: async (host) => ({
      obstacle: host === "allowed.test" || host === "127.0.0.1" ? "" : "no rule allows it",
    }),
    resolveHost: async (host) => {
      resolved.push(host);
      return [{ address: "127.0.0.1", family: 4 }];
    },
    isAllowed: (address) => address === "127.0.0.1",
    ...ports,
  });
  const port = await listen(createServer((socket) => proxy.serve(socket)));
  const ask = async (bytes: string): Promise<string> => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(bytes);
    await new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
      socket.on("error", () => resolve());
    });
    return text;
  };
  return { proxy, ask, resolved };
}

describe("tunnels", () => {
  test(verifies("S-32", "bytes go both ways, to a host that is allowed, which is resolved once"), async () => {
    const port = await listen(
      createServer((socket) => socket.once("data", (data: Buffer) => socket.end(`got ${data.toString()}`))),
    );
    const { ask, resolved, proxy } = await startProxy();
    expect(await ask(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\nhello`)).toBe(
      "HTTP/1.1 200 Connection Established\r\n\r\ngot hello",
    );
    expect(resolved).toEqual(["allowed.test"]);
    expect(proxy.takeNotes()).toEqual([]);
  });

  test(verifies("S-32", "a host without a rule is refused, told why, and noted once"), async () => {
    const { ask, resolved, proxy } = await startProxy();
    for (let round = 0; round < 3; round += 1) {
      const answer = await ask("CONNECT other.test:443 HTTP/1.1\r\n\r\n");
      expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*refuses other\.test:443: no rule allows it\.\n$/);
    }
    expect(resolved).toEqual([]);
    expect(proxy.takeNotes()).toEqual(["The network refused other.test:443: no rule allows it."]);
    expect(proxy.takeNotes()).toEqual([]);
  });

  const addresses = [
    "127.0.0.1", "10.0.0.1", "172.16.9.9", "192.168.1.1", "169.254.169.254", "100.100.100.200", "0.0.0.0", "::1", "fe80::1",
    "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
  ]; // prettier-ignore
  test.each(addresses)(verifies("S-32", "a name that leads to %s is refused"), async (address) => {
    const resolveHost = async () => [
      { address: "93.184.216.34", family: 4 },
      { address, family: 4 },
    ];
    const { ask, proxy } = await startProxy({ admit: admitAll, resolveHost, isAllowed: undefined });
    expect(await ask("CONNECT allowed.test:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 403/);
    expect(proxy.takeNotes()).toEqual([expect.stringMatching(/^The network refused allowed\.test:443: it is /)]);
  });

  const inner = { address: "10.0.0.1", family: 4 };
  test(verifies("S-103", "a host in a private network is refused with the rule that allows it"), async () => {
    const { ask, proxy } = await startProxy({
      admit: admitAll,
      resolveHost: async () => [inner],
      isAllowed: undefined,
    });
    expect(await ask("CONNECT mirror.test:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 403/);
    expect(proxy.takeNotes()).toEqual([
      'The network refused mirror.test:443: it is in a private network, the user passes --allow "PrivateNetwork(mirror.test)".',
    ]);
  });

  test.each(["127.0.0.1", "169.254.169.254", "100.100.100.200", "::1", "fe80::1", "fd00:ec2::254", "::ffff:10.0.0.1"])(
    verifies("S-103", "no rule opens %s"),
    async (address) => {
      const { ask, proxy } = await startProxy({
        admit: async () => ({ obstacle: "", mayBePrivate: true }),
        resolveHost: async () => [inner, { address, family: 4 }],
        isAllowed: undefined,
      });
      expect(await ask("CONNECT mirror.test:443 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 403/);
      expect(proxy.takeNotes()).toEqual(["The network refused mirror.test:443: it is not a public host."]);
    },
  );

  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ address }) => isPrivateAddress(address));
  test(verifies("S-103", "a rule for it opens an address of a private network"), async () => {
    skipIfMissing(unless(own !== undefined, "this machine has no address in a private network"));
    const server = createServer((socket) => socket.end("reached"));
    open.push(server);
    await new Promise<void>((resolve) => void server.listen(0, own!.address, resolve));
    const { ask } = await startProxy({
      admit: async () => ({ obstacle: "", mayBePrivate: true }),
      resolveHost: async () => [{ address: own!.address, family: 4 }],
      isAllowed: undefined,
    });
    const { port } = server.address() as AddressInfo;
    expect(await ask(`CONNECT mirror.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 .*reached$/s);
  });

  test.each(["127.0.0.1:80", "[::1]:80", "2130706433:80", "0x7f.1:80", "0177.0.0.1:80", "localhost:80"])(
    verifies("S-32", "the address %s itself is refused, in every spelling"),
    async (authority) => {
      const { ask } = await startProxy({ admit: admitAll, isAllowed: undefined });
      expect(await ask(`CONNECT ${authority} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403/);
    },
  );

  test.each([
    "allowed.test%00.other.test:443", "allowed.test%2eother.test:443", "allowed.test@other.test:443", "allowed.test",
    "allowed.test:", "allowed.test:0", "allowed.test:65536", "allowed.test:443:80", "http://allowed.test:443", "[::1", "//allowed.test:443",
    "allowed.test:443/x", "allowed.test\\.other.test:443", "a,b:443", "allowed.test#x:443", "allowed.test?x:443", "..:443",
  ])(verifies("S-32", "what is no plain host and port is refused: %s"), async (authority) => {
    const { ask, resolved } = await startProxy({ admit: admitAll });
    expect(await ask(`CONNECT ${authority} HTTP/1.1\r\n\r\n`)).toMatch(/^(HTTP\/1\.1 40[03]|$)/);
    expect(resolved).toEqual([]);
    expect(parseAuthority(authority)).toBeUndefined();
  }); // prettier-ignore

  test.each(["\0", "\r\nX: y", "\n", " ", "\t", "ä", "\u007f", "\u3002"])(
    verifies("S-32", "no such sign in a host: %j"),
    (sign) => {
      expect(parseAuthority(`allowed${sign}.test:443`)).toBeUndefined();
      expect(parseAuthority(`allowed.test${sign}:443`)).toBeUndefined();
    },
  );

  test("hosts are compared in one form", () => {
    expect(parseAuthority("Allowed.TEST.:443")).toEqual({ host: "allowed.test", port: 443 });
    expect(parseAuthority("[2001:DB8:0::1]:80")).toEqual({ host: "[2001:db8::1]", port: 80 });
    expect(parseAuthority("0x7f.1:80")).toEqual({ host: "127.0.0.1", port: 80 });
  });

  test.each([22, 25, 53, 445, 465])(verifies("S-32", "port %i is of no web server"), async (port) => {
    const { ask, proxy } = await startProxy();
    expect(await ask(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403/);
    expect(proxy.takeNotes()[0]).toContain(`port ${port}`);
  });

  test("a host that does not answer or does not exist is told, and nothing hangs", async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    const { ask } = await startProxy();
    expect(await ask(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502/);
    const missing = await startProxy({
      resolveHost: () => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" })),
    });
    expect(await missing.ask("CONNECT allowed.test:443 HTTP/1.1\r\n\r\n")).toMatch(/403[\s\S]*not found \(ENOTFOUND\)/);
  });

  test("its end ends every connection", async () => {
    const port = await listen(createServer(() => undefined));
    const { ask, proxy } = await startProxy();
    const answer = ask(`CONNECT allowed.test:${port} HTTP/1.1\r\n\r\n`);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    proxy.close();
    expect(await answer).toMatch(/^(HTTP\/1\.1 200|$)/);
  });
});

describe("plain requests", () => {
  async function startWeb(): Promise<{ readonly port: number; readonly seen: IncomingMessage[] }> {
    const seen: IncomingMessage[] = [];
    const server = createWebServer((request, response) => {
      seen.push(request);
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => response.setHeader("x-own", "1").end(`${request.method} ${request.url} ${body}`));
    });
    return { port: await listen(server), seen };
  }

  test(verifies("S-32", "are written anew for the host of their address"), async () => {
    const { port, seen } = await startWeb();
    const { ask } = await startProxy();
    const answer = await ask(
      `POST http://allowed.test:${port}/a?b=1#c HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\nX-Hop: 1\r\nConnection: close, x-hop\r\nContent-Length: 4\r\n\r\nbody`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*POST \/a\?b=1 body/);
    expect(seen[0]!.headers.host).toBe(`allowed.test:${port}`);
    expect(seen[0]!.headers).not.toHaveProperty("proxy-authorization");
    expect(seen[0]!.headers).not.toHaveProperty("x-hop");
  });

  test.each([
    "GET http://other.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
    "GET https://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
    "GET http://allowed.test@other.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
    "GET http://allowed.test%2f.other.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
    "GET file:///etc/passwd HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n",
  ])(verifies("S-32", "to anywhere else are refused: %j"), async (bytes) => {
    const { ask, resolved } = await startProxy();
    expect(await ask(bytes)).toMatch(/^HTTP\/1\.1 403/);
    expect(resolved).toEqual([]);
  });

  test.each([
    "garbage\r\n\r\n",
    "\0\0\0\0",
    "GET http://a/ HTTP/9.9\r\n\r\n",
    `GET http://a/ HTTP/1.1\r\nX: ${"a".repeat(100_000)}\r\n\r\n`,
  ])("what is no request ends the connection", async (bytes) => {
    const { ask } = await startProxy();
    expect(await ask(bytes)).not.toMatch(/ 200 /);
  });
});
