import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createCheckedFetch } from "../../src/network/checked-fetch.ts";

/** A server of this machine; names lead where `hosts` says. */
async function createSite(hosts: Readonly<Record<string, readonly string[]>> = {}) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === "/away") response.writeHead(302, { location: "https://evil.example/" }).end();
    else if (request.url === "/endless") response.end("x".repeat(2_000_000));
    else response.end("ok");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const lookups: string[] = [];
  const resolveHost = async (host: string) => {
    lookups.push(host);
    const [address = "203.0.113.1"] = hosts[host]?.slice(lookups.filter((name) => name === host).length - 1) ?? [];
    return [{ address, family: 4 }];
  };
  const { port } = server.address() as AddressInfo;
  const fetchFrom = (serverUrl: string) => createCheckedFetch(serverUrl, { findProxy: () => undefined, resolveHost });
  return { port, requests, lookups, fetchFrom };
}

describe("what the words of a server lead to", () => {
  const hosts = {
    "mcp.example": ["8.8.8.8"],
    "mcp.corp": ["10.0.0.5"],
    "inner.corp": ["10.0.0.6"],
    "cloud.example": ["169.254.169.254"],
    "own.example": ["127.0.0.1"],
    localhost: ["127.0.0.1"],
  };
  const refused: readonly [from: string, to: string][] = [
    ["https://mcp.example/mcp", "http://127.0.0.1:PORT/"],
    ["https://mcp.example/mcp", "http://localhost:PORT/"],
    ["https://mcp.example/mcp", "http://[::1]:PORT/"],
    ["https://mcp.example/mcp", "https://inner.corp/"],
    ["https://mcp.example/mcp", "https://own.example:PORT/"],
    ["https://mcp.corp/mcp", "http://127.0.0.1:PORT/"],
    ["https://mcp.corp/mcp", "https://cloud.example/"],
    ["https://own.example/mcp", "http://127.0.0.1:PORT/"],
    ["http://127.0.0.1:PORT/mcp", "https://cloud.example/"],
    ["http://127.0.0.1:PORT/mcp", "http://inner.corp/"],
    ["http://127.0.0.1:PORT/mcp", "http://127.0.0.1:22/"],
    ["http://127.0.0.1:PORT/mcp", "http://user:CANARY@127.0.0.1:PORT/"],
    ["http://127.0.0.1:PORT/mcp", "file:///etc/passwd"],
  ];
  test.each(refused)(verifies("S-172", "%s does not lead to %s"), async (from, to) => {
    const { port, requests, fetchFrom } = await createSite(hosts);
    const fetch = fetchFrom(from.replace("PORT", `${port}`));
    await expect(fetch(to.replace("PORT", `${port}`))).rejects.toThrow(/^(?!.*CANARY).* is not reached: /);
    expect(requests).toEqual([]);
  });

  test(
    verifies("S-172", "a server of this machine leads to this machine; redirects and long answers are not followed"),
    async () => {
      const { port, requests, fetchFrom } = await createSite(hosts);
      const fetch = fetchFrom(`http://localhost:${port}/mcp`);
      expect(await (await fetch(`http://127.0.0.1:${port}/token`, { method: "POST", body: "a=b" })).text()).toBe("ok");
      expect((await fetch(`http://localhost:${port}/away`)).status).toBe(302);
      await expect(fetch(`http://localhost:${port}/endless`)).rejects.toThrow(/more than/);
      expect(requests).toEqual(["/token", "/away", "/endless"]);
    },
  );

  test(verifies("S-172", "a name that leads elsewhere at the next look-up stays where it was"), async () => {
    const { port, lookups, fetchFrom } = await createSite({ "mcp.example": ["10.0.0.5", "127.0.0.1"] });
    const fetch = fetchFrom("https://mcp.example/mcp");
    await expect(fetch("http://mcp.example/")).rejects.toThrow(/https/);
    await expect(fetch(`http://mcp.example:${port}/`)).rejects.toThrow(/https/);
    expect(lookups).toEqual(["mcp.example"]);
  });
});
