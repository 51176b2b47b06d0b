/** What the server refuses, and what it tells nobody (S-50 to S-56). */
import { once } from "node:events";
import { mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";
import { createRefusedRequests } from "./refused-requests.ts";

const folders = createTestFolder();
describe("requests that are wrong", () => {
  test(
    verifies(["S-50", "S-52", "S-55", "N52"], "get their status; the server goes on, and stores nothing"),
    async () => {
      const server = await startServer();
      const rows = createRefusedRequests(server);
      expect(rows.length).toBeGreaterThan(150);
      for (const { name, request, statuses } of rows) {
        const { status, headers, body } = await sendRaw(server.port, request);
        expect(statuses, `${name}: ${status} ${body.slice(0, 200)}`).toContain(status);
        for (const header of headers.keys()) expect(header).not.toMatch(/^access-control/);
        if (status >= 400 && !request.startsWith("HEAD ")) {
          expect(headers.get("content-type"), name).toBe("application/json");
          const { error } = JSON.parse(body) as { error: Record<string, unknown> };
          const isOpenAi = /^(\w+) \/v1\/(chat\/completions|responses) /.test(request);
          const fields = isOpenAi
            ? ["message", "type", "param", "code"]
            : ["errorCode", "message", "source", "details"];
          expect(Object.keys(error)).toEqual(fields);
          expect(error.message, name).not.toContain(server.token);
        }
        const next = await server.fetch("/v1/models");
        expect(next.status, name).toBe(200);
        await next.arrayBuffer();
      }
      expect(await server.read("/v1/conversations")).toEqual({ conversations: [] });
      expect(server.log()).not.toContain(server.token);
      expect(server.log()).not.toContain('"defect"');
    },
  );

  test(verifies("S-55", "a refused client that never closes its connection loses it"), async () => {
    const { port } = await startServer();
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined).resume();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`CONNECT localhost:${port} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    await once(socket, "end");
    const writing = setInterval(() => socket.write("x"), 100);
    await closed;
    clearInterval(writing);
    expect(socket.destroyed).toBe(true);
  });

  test(verifies("S-50", "a request that is hidden after another one is not a request"), async () => {
    const server = await startServer();
    const hidden = `POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"message":"hide"}`;
    for (const head of [
      `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked`,
      "Transfer-Encoding: chunked\r\nContent-Length: 4",
      "Transfer-Encoding : chunked\r\nContent-Length: 5",
      "Content-Length: 0\r\nContent-Length: 90",
    ]) {
      await sendRaw(
        server.port,
        `POST /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n${head}\r\n\r\n0\r\n\r\n${hidden}`,
      );
    }
    expect(await server.read("/v1/conversations")).toEqual({ conversations: [] });
  });
});

describe("the way in", () => {
  test(verifies(["S-51", "S-42"], "the token is 256 bits, and only the user can read it"), async () => {
    const server = await startServer();
    expect(Buffer.from(server.token, "base64url")).toHaveLength(32);
    expect(statSync(join(server.home, "server-token")).mode & 0o777).toBe(0o600);
    expect(statSync(server.home).mode & 0o777).toBe(0o700);
  });

  test(verifies("S-51", "a ticket opens the page once; the cookie is the page's alone"), async () => {
    const server = await startServer({ args: ["--open"] });
    const ticket = server.pageAddress.match(/#ticket=(\S+)/)![1]!;
    const open = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${server.address}/v1/session`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    expect((await open({ ticket }, { Origin: "http://evil.example" })).status).toBe(403);
    const opened = await open({ ticket }, { Origin: server.address });
    expect(opened.status).toBe(204);
    const cookie = opened.headers.get("set-cookie")!;
    expect(cookie).toMatch(/^sheaf_session=[\w.-]{43,}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await open({ ticket })).status).toBe(401);
    expect((await open({})).status).toBe(401);
    const [pair = ""] = cookie.split(";");
    const models = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${server.address}/v1/models`, { headers: { Cookie: pair, ...headers } });
    expect((await models({})).status).toBe(200);
    expect((await models({ "Sec-Fetch-Site": "same-origin" })).status).toBe(200);
    expect((await models({ "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await models({ Origin: "http://evil.example" })).status).toBe(403);
    expect((await models({ Cookie: `${pair}x` })).status).toBe(401);
    const byToken = await open({}, { Authorization: `Bearer ${server.token}` });
    expect(byToken.status).toBe(204);
    const close = await fetch(`${server.address}/v1/session`, { method: "DELETE", headers: { Cookie: pair } });
    expect(close.status).toBe(204);
    expect((await models({})).status).toBe(401);
    expect(server.log()).not.toContain(ticket);
  });

  test(
    verifies(["S-56", "C20"], "an address for other machines needs a token file, or a flag that says so"),
    async () => {
      const cwd = folders.newFolder();
      const args = ["serve", "--host", "0.0.0.0", "--port", "0", "--model", "offline"];
      const refused = await runSheaf(args, { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/^sheaf: USAGE: --host 0\.0\.0\.0 .*--token-file.*--insecure-listen/);
      const open = join(cwd, "open");
      writeFileSync(open, `${"t".repeat(30)}\n`, { mode: 0o644 });
      const readable = await runSheaf([...args, "--token-file", open], { cwd });
      expect(readable.code).toBe(2);
      expect(readable.stderr).toContain("chmod 600");
      expect(readable.stderr).not.toContain("t".repeat(30));
      const short = join(cwd, "short");
      writeFileSync(short, "tooshort\n", { mode: 0o600 });
      const weak = await runSheaf([...args, "--token-file", short], { cwd });
      expect(weak.code).toBe(2);
      expect(weak.stderr).toContain("line 1");
    },
  );

  test(verifies(["S-53", "C20"], "a token that is given to two people is refused"), async () => {
    const cwd = folders.newFolder();
    const [one, two] = ["t".repeat(30), "u".repeat(30)];
    const file = `${cwd}-tokens`;
    const args = ["serve", "--port", "0", "--model", "offline", "--token-file", file];
    writeFileSync(file, `ada ${two}\nada ${one}\nbob ${one}\n`, { mode: 0o600 });
    const { code, stderr } = await runSheaf(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sheaf: CONFIG_INVALID: .* gives ada and bob the same token: create one for each\n$/);
  });

  test(
    verifies(["S-51", "S-53"], "a token file that changes is read again; one with a fault changes nothing"),
    async () => {
      const cwd = folders.newFolder();
      const file = `${cwd}-tokens`;
      const [ada, bob, eve] = ["a".repeat(32), "b".repeat(32), "e".repeat(32)];
      writeFileSync(file, `ada ${ada}\nbob ${bob}\n`, { mode: 0o600 });
      const server = await startServer({ cwd, args: ["--token-file", file] });
      const ask = async (headers: Record<string, string>) =>
        (await fetch(`${server.address}/v1/conversations`, { headers })).status;
      const by = (token: string) => ask({ Authorization: `Bearer ${token}` });
      const session = await fetch(`${server.address}/v1/session`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${bob}` },
        body: "{}",
      });
      const Cookie = session.headers.get("set-cookie")!.split(";")[0]!;
      expect([await by(ada), await by(bob), await by(eve), await ask({ Cookie })]).toEqual([200, 200, 401, 200]);
      // In one step, as an editor does it.
      writeFileSync(`${file}.new`, `ada ${ada}\neve ${eve}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      await expect.poll(() => by(eve), { timeout: 10_000 }).toBe(200);
      expect([await by(ada), await by(bob), await ask({ Cookie })]).toEqual([200, 401, 401]);
      writeFileSync(file, "tooshort\n");
      await expect.poll(server.log, { timeout: 10_000 }).toContain('"event":"tokens_kept","code":"CONFIG_INVALID"');
      expect([await by(ada), await by(bob), await by(eve)]).toEqual([200, 401, 200]);
      expect(server.log()).not.toContain(eve);
    },
  );
});

describe("limits", () => {
  const waiting = { turns: [{ events: [{ text: "Begun. " }, { wait_ms: 60_000 }] }], after: "loop" };

  test(
    verifies(["S-55", "X7"], "of streams do not count a client that went away before its answer began"),
    async () => {
      const server = await startServer({ script: waiting });
      const body = JSON.stringify({ message: "go", stream: true, onDisconnect: "cancel" });
      const head = [
        "POST /v1/chat HTTP/1.1",
        `Host: 127.0.0.1:${server.port}`,
        `Authorization: Bearer ${server.token}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ];
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const socket = connect(server.port, "127.0.0.1");
          socket.on("error", () => undefined).write(`${head.join("\r\n")}\r\n\r\n${body}`);
          await sleep(index % 10);
          socket.resetAndDestroy();
        }),
      );
      const readGauges = async (): Promise<readonly string[] | null> =>
        (await (await server.fetch("/metrics")).text()).match(/^sheaf_(?:responses_running|streams_open) \d+$/gm);
      await expect.poll(readGauges).toEqual(["sheaf_responses_running 0", "sheaf_streams_open 0"]);
    },
  );
});

describe("headers", () => {
  test(verifies("S-62", "let a browser do what the page needs, and nothing else"), async () => {
    const server = await startServer();
    for (const path of ["/", "/healthz", "/v1/models", "/v1/nothing"]) {
      const { headers } = await server.fetch(path);
      const policy = headers.get("content-security-policy")!.split("; ");
      expect(policy).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
    const stream = await server.chat({ message: "go", stream: true });
    expect(stream.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(stream.headers.get("cache-control")).toBe("no-store, no-transform");
  });
});

describe("what operators learn", () => {
  test(verifies("S-41", "logs are lines of JSON without secrets; metrics count"), async () => {
    const cwd = folders.newFolder();
    mkdirSync(join(cwd, "sub"));
    const server = await startServer({ cwd, environment: { MY_CANARY: "CANARY-abc" } });
    await server.chat({ message: "CANARY-message" });
    await fetch(`${server.address}/v1/models?token=CANARY-query`, {
      headers: { Authorization: "Bearer CANARY-token" },
    });
    expect((await fetch(`${server.address}/metrics`)).status).toBe(401);
    const metrics = await (await server.fetch("/metrics")).text();
    expect(metrics).toContain('sheaf_http_requests_total{method="POST",route="/v1/chat",status="200"} 1\n');
    expect(metrics).toContain('sheaf_responses_ended_total{reason="end_turn"} 1\n');
    expect(metrics).toContain("sheaf_responses_running 0\n");
    for (const line of metrics.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
    }
    expect(await server.stop()).toBe(0);
    const lines = server.log().trimEnd().split("\n");
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events).toEqual(["listening", ...events.slice(1, -2), "closing", "closed"]);
    expect(server.log()).not.toContain("CANARY");
    expect(server.log()).not.toContain(server.token);
  });
});
