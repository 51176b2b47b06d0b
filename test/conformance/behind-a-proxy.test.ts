/** `sheaf serve` behind the real nginx and Caddy, as examples/proxy/ sets them up: over TLS and HTTP/2. */
import { describe, expect, test } from "vitest";
import { describeDeep } from "../support/describe-where.ts";
import { describeWithProgram } from "../support/programs.ts";
import { clientAddress, findFreePort, proxyName, startProxy, type ProxyProgram } from "../support/reverse-proxy.ts";
import { startServer } from "../support/server.ts";
import { verifies } from "../support/verifies.ts";

interface Start {
  readonly script?: unknown;
  readonly args?: readonly string[];
  readonly silenceSeconds?: number;
}

async function start(program: ProxyProgram, { script, args = [], silenceSeconds }: Start = {}) {
  const port = await findFreePort();
  const trust = ["--trust-proxy", "127.0.0.1"];
  const server = await startServer({
    script,
    args: ["--allow-host", `${proxyName}:${port}`, ...trust, ...args],
  });
  const proxy = await startProxy(program, server.port, port, silenceSeconds);
  const json = { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json" };
  return { server, proxy, json };
}

/** Says something, is silent, and goes on. */
const pauseFor = (milliseconds: number) => ({
  turns: [{ events: [{ text: "first " }, { wait_ms: milliseconds }, { text: "last" }] }],
  after: "loop",
});

const lastLogLine = (log: string, path: string): unknown =>
  JSON.parse(log.split("\n").findLast((line) => line.includes(`"path":"${path}"`)) ?? "null");

describeWithProgram("openssl", () => {
  for (const program of ["nginx", "caddy"] as const) {
    // Each proxy has the same tests: a change waits for those of one.
    const describeOne = program === "nginx" ? describe : describeDeep;
    describeOne(program, () =>
      describeWithProgram(program, () => {
        test(
          verifies("R-27", `${program}: events arrive at once, and a silent stream outlives the limit on silence`),
          async () => {
            const { proxy, json } = await start(program, {
              script: pauseFor(3500),
              args: ["--heartbeat", "1"],
              silenceSeconds: 2,
            });
            const body = JSON.stringify({ message: "go", stream: true });
            const answer = await proxy.fetch("/v1/chat", { method: "POST", headers: json, body });
            expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
            await expect.poll(answer.text).toContain("first");
            expect([answer.hasEnded(), answer.text().includes("last")]).toEqual([false, false]);
            await answer.ended;
            expect(answer.text()).toContain("last");
            expect(answer.text()).toContain("event: done");
            expect(answer.text().match(/^: ?heartbeat|^event: heartbeat|^:/gm)?.length).toBeGreaterThan(2);
          },
        );

        test(verifies("R-27", `${program}: a reader resumes after the event that it has`), async () => {
          const { proxy, json } = await start(program, { script: pauseFor(1500) });
          const body = JSON.stringify({ message: "go", stream: true });
          const first = await proxy.fetch("/v1/chat", { method: "POST", headers: json, body });
          await expect.poll(first.text).toContain("first");
          first.close();
          const seen = [...first.text().matchAll(/^id: ?(\d+)$/gm)].at(-1)![1]!;
          const path = `${String(first.headers["location"])}/events`;
          const second = await proxy.fetch(path, { headers: { ...json, "Last-Event-ID": seen } });
          await second.ended;
          const ids = [...second.text().matchAll(/^id: ?(\d+)$/gm)].map(([, id]) => Number(id));
          expect(Math.min(...ids)).toBeGreaterThan(Number(seen));
          expect(second.text()).toContain("event: done");
        });

        test(
          verifies("R-27", `${program}: what is too large gets the server's own 413, and the largest body passes`),
          async () => {
            const { proxy, json } = await start(program);
            const chat = (body: string) => proxy.fetch("/v1/chat", { method: "POST", headers: json, body });
            // The largest file: 10 MiB.
            const fitting = JSON.stringify({
              message: "go",
              attachments: [{ name: "a.png", data: "A".repeat(13_981_000) }],
            });
            const judged = await chat(fitting);
            await judged.ended;
            // It was read and understood: the bytes are no image.
            expect([judged.status, judged.text()]).toEqual([400, expect.stringContaining("a.png is not a PNG")]);
            for (const size of [15.5, 40]) {
              const refused = await chat(JSON.stringify({ message: "x".repeat(size * 1024 * 1024) }));
              await refused.ended;
              expect([refused.status, refused.text()]).toEqual([413, expect.stringContaining("PAYLOAD_TOO_LARGE")]);
            }
          },
        );

        test(
          verifies(
            ["S-116", "S-117"],
            `${program}: the log names the client, and what a client writes itself does not count`,
          ),
          async () => {
            const { server, proxy, json } = await start(program);
            const forged = {
              "X-Forwarded-For": "192.0.2.66",
              Forwarded: "for=192.0.2.67;proto=http;host=evil.example",
              ...(program === "nginx" && { "X-Forwarded-Host": "evil.example" }),
            };
            const answer = await proxy.fetch("/v1/models", { headers: { ...json, ...forged } });
            await answer.ended;
            expect(answer.status).toBe(200);
            await expect.poll(() => lastLogLine(server.log(), "/v1/models")).toMatchObject({ status: 200 });
            expect(lastLogLine(server.log(), "/v1/models")).toMatchObject({ client: clientAddress });
          },
        );

        test(
          verifies(
            ["S-118", "S-119", "S-52"],
            `${program}: the page's cookie is Secure, and host and origin are checked`,
          ),
          async () => {
            const { server, proxy, json } = await start(program);
            const page = await proxy.fetch("/");
            await page.ended;
            expect([page.status, page.text()]).toEqual([200, expect.stringContaining("<script")]);
            const signIn = (headers: Record<string, string>) =>
              proxy.fetch("/v1/session", { method: "POST", headers: { ...json, ...headers }, body: "{}" });
            const own = await signIn({ Origin: proxy.origin });
            expect([own.status, String(own.headers["set-cookie"])]).toEqual([
              204,
              expect.stringMatching(/HttpOnly; Secure; SameSite=Strict/),
            ]);
            for (const origin of ["https://evil.example", proxy.origin.replace("https:", "http:")])
              expect((await signIn({ Origin: origin })).status).toBe(403);
            const metrics = await proxy.fetch("/metrics", { headers: json });
            expect(metrics.status).toBe(404);
            // Without the proxy, nothing is different: no cookie is Secure over plain HTTP.
            const fields = { "Content-Type": "application/json" };
            const direct = await server.fetch("/v1/session", { method: "POST", headers: fields, body: "{}" });
            expect(direct.headers.get("set-cookie")).not.toContain("Secure");
          },
        );
      }),
    );
  }
});
