/** Pages of other origins (X24). Browsers try it in test/browser. */
import { expect, test } from "vitest";
import { listOperations } from "@sheaf/agent/output/operations";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp, type TestApp } from "../../../test/support/open-app.ts";

const origin = "http://localhost:3000";
const start = (args: readonly string[] = ["--allow-origin", origin]): Promise<TestApp> => openApp({ args });

const listCorsHeaders = ({ headers }: Response): string[] =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"));

test(verifies(["X24", "S-52"], "an allowed page gets answers, errors and streams that name its origin"), async () => {
  const server = await start();
  const fields = { Origin: origin, "Sec-Fetch-Site": "cross-site" };
  const answers = [
    await server.fetch("/v1/models", { headers: fields }),
    await server.fetch("/v1/nothing", { headers: fields }),
    await server.request("/v1/models", { headers: fields }),
    await server.chat({ message: "go" }, { headers: fields }),
    await server.chat({ message: "go", stream: true }, { headers: fields }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 200, 200]);
  for (const answer of answers) {
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("vary")).toBe("Origin");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    await answer.text();
  }
});

test(verifies("X24", "a preflight gets what it asks for, and never a private network"), async () => {
  const server = await start();
  const ask = (fields: Record<string, string>): Promise<Response> =>
    server.request("/v1/chat", {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST", ...fields },
    });
  const answer = await ask({ "Access-Control-Request-Headers": "authorization,content-type" });
  expect(answer.status).toBe(204);
  expect(answer.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
  const methods = new Set(listOperations().flatMap(([, route]) => route));
  expect(new Set(answer.headers.get("access-control-allow-methods")!.split(", "))).toEqual(methods);
  expect((await ask({ "Access-Control-Request-Private-Network": "true" })).status).toBe(403);
  for (const other of [
    "http://localhost:3001",
    "https://localhost:3000",
    "http://localhost:3000.evil.example",
    "null",
  ]) {
    const refused = await ask({ Origin: other });
    expect([other, refused.status, listCorsHeaders(refused)]).toEqual([other, 403, []]);
  }
});

test(verifies(["X24", "S-51"], "a cookie does not count for such a page, and it cannot sign in"), async () => {
  const server = await start();
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  const signedIn = await server.fetch("/v1/session", post);
  const [cookie = ""] = signedIn.headers.get("set-cookie")!.split(";");
  expect((await server.request("/v1/models", { headers: { Cookie: cookie } })).status).toBe(200);
  expect((await server.request("/v1/models", { headers: { Cookie: cookie, Origin: origin } })).status).toBe(401);
  const refused = await server.fetch("/v1/session", { ...post, headers: { ...post.headers, Origin: origin } });
  expect([refused.status, refused.headers.get("set-cookie")]).toEqual([403, null]);
  expect(refused.headers.get("access-control-allow-origin")).toBe(origin);
});

test(verifies("X24", "without the flag no page of another origin gets anything"), async () => {
  const server = await start([]);
  const answer = await server.fetch("/v1/models", { headers: { Origin: origin } });
  expect([answer.status, listCorsHeaders(answer)]).toEqual([403, []]);
});

test(verifies("X24", "only whole origins can be allowed"), async () => {
  for (const word of ["*", "localhost:3000", "http://localhost:3000/", "file:///tmp", "https://a.example/b", "null"]) {
    await expect(start(["--allow-origin", word])).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining(`--allow-origin "${word}" is not an origin`) as string,
    });
  }
});
