/** The program: its words, its report and its exit code, against small servers. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { runMain } from "../src/main.ts";

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function run(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  let [output, errors] = ["", ""];
  const code = await runMain(words, {
    environment,
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
  });
  return { code, output, errors };
}

/** A server that is none of Sheaf's. */
async function startForeign(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const page: RequestListener = (_, answer) => void answer.setHeader("content-type", "text/html").end("<h1>Hello</h1>");

test.each([
  [["--help"], /sheaf-conformance URL/],
  [["--list"], /^base +models .*\n(?:.*\n)*interactive +conversation-delete .*\n(?:interactive .*\n)*$/],
  [["--vectors"], /^\{"name":"a whole stream","clauses":\["N53","R14"\],"events":\[\{.*\}\n(?:\{"name".*\}\n){20,}$/],
  [["--list", "--level", "base"], /^(?!.*resume)/],
  [["--list", "--only", "X9,cancel"], /^resumable +cancel .*\n(?:resumable +idempotency.*\n){4}$/],
])("%j", async (words, expected) => {
  expect(await run(words)).toEqual({ code: 0, output: expect.stringMatching(expected), errors: "" });
});

test.each([
  [[], "the command takes one URL, not 0"],
  [["http://a", "http://b"], "the command takes one URL, not 2"],
  [["localhost"], '"localhost" is not an http address'],
  [["http://127.0.0.1:9", "--level", "high"], '--level "high" is not one of base, resumable, interactive'],
  [["http://127.0.0.1:9", "--only", "X99"], '--only "X99" is unknown: use a check or a clause of --list'],
  [["http://127.0.0.1:9", "--wait", "soon"], '--wait "soon" is not a number of seconds'],
  [["http://127.0.0.1:9", "--profile", "/no/such/file"], "ENOENT"],
  [["http://127.0.0.1:9", "--speed"], "--speed"],
  [["http://127.0.0.1:9", "--wait", "5"], "no server answers at http://127.0.0.1:9"],
])("wrong words and no server are exit code 2: %j", async (words, expected) => {
  expect(await run(words)).toEqual({ code: 2, output: "", errors: expect.stringContaining(expected) });
});

test(verifies("X12", "a server that is none of Sheaf's reaches no level"), async () => {
  const address = await startForeign(page);
  const { code, output } = await run([address, "--wait", "2"]);
  expect(code).toBe(1);
  expect(output).toMatch(/^FAIL models/m);
  expect(output).toMatch(/broken clauses: .*N43.*R2/);
  expect(output).toMatch(/does not reach the level base\n$/);
});

test(verifies("X12", "--json gives one object with levels, clauses and checks"), async () => {
  const address = await startForeign(page);
  const { code, output } = await run([address, "--json", "--level", "base", "--only", "R2,health"]);
  const report: unknown = JSON.parse(output);
  expect(code).toBe(1);
  expect(report).toMatchObject({
    version: 1,
    server: address,
    level: null,
    levels: { base: { passed: 1, skipped: 0 }, resumable: { passed: 0, failed: 0 } },
    clauses: { R2: "failed", "§7": "passed" },
  });
  expect((report as { checks: unknown[] }).checks[0]).toEqual({
    id: "health",
    level: "base",
    clauses: ["§7"],
    title: "GET /healthz answers without a token",
    status: "passed",
    durationMs: expect.any(Number),
  });
});

test("a server that hangs fails its checks, and the program ends", async () => {
  const address = await startForeign((request, answer) => void (request.url === "/" && answer.end()));
  const { code, output } = await run([address, "--only", "models", "--wait", "0.2"]);
  expect(code).toBe(1);
  expect(output).toContain("GET /v1/models: no answer within 200 ms");
});

test("the token comes from a flag, or the environment", async () => {
  const seen: (string | undefined)[] = [];
  const address = await startForeign(({ headers, url }, answer) => {
    if (url === "/v1/models") seen.push(headers.authorization);
    answer.setHeader("content-type", "application/json").end('{"models":[]}');
  });
  const environment = { SHEAF_CONFORMANCE_TOKEN: "two" };
  for (const words of [["--token", "one"], [], ["--token", "one"]]) {
    expect((await run([address, "--only", "models", ...words], environment)).code).toBe(0);
  }
  expect(seen).toEqual(["Bearer one", "Bearer two", "Bearer one"]);
});

test("a server that refuses the token is exit code 2, before any check", async () => {
  const address = await startForeign((_, answer) => void answer.writeHead(401).end());
  const expected = { code: 2, output: "" };
  expect(await run([address])).toEqual({ ...expected, errors: expect.stringContaining("requires a token") });
  const refused = expect.stringContaining(`${address} rejects the token: see --token`);
  expect(await run([address, "--token", "x"])).toEqual({ ...expected, errors: refused });
});

test("--strict counts a check that cannot tell as failed", async () => {
  const address = await startForeign(page);
  const words = [address, "--only", "error-token"];
  expect((await run(words)).output).toMatch(/^skip error-token .*\n +the kit has no token\n/);
  expect((await run(words)).code).toBe(0);
  expect((await run([...words, "--strict"])).code).toBe(1);
});
