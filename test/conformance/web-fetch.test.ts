/** web_fetch through the built command line: off without a rule, and never to a host that is not public. */
import { expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Outcomes of web_fetch calls, as `stream-json` tells them. */
async function fetchAll(urls: readonly string[], ...args: string[]) {
  const turns = [
    ...urls.map((url) => ({ events: [{ call: { tool: "web_fetch", arguments: { url } } }] })),
    { events: [{ text: "Done." }] },
  ];
  const cwd = folders.newFolder({ "script.json": JSON.stringify({ turns }) });
  const { code, stdout } = await runSheaf(["-p", "--model", "scripted:script.json", ...args, "go"], { cwd });
  expect(code).toBe(0);
  return parseStream(stdout)
    .filter(({ subtype }) => subtype === "completed")
    .map(({ tool_call }) => (tool_call as { webFetchToolCall: Call }).webFetchToolCall);
}

interface Call {
  readonly args: { readonly url: string; readonly toolCallId: string };
  readonly result: Readonly<Record<string, { readonly reason?: string; readonly errorMessage?: string }>>;
}

test(verifies(["S-32", "C9"], "a rule opens public hosts; a server of this machine is never reached"), async () => {
  let requests = 0;
  const address = await serveHttp((_request, response) => {
    requests += 1;
    response.end("secret");
  });
  const { port } = new URL(address);
  const urls = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`];

  const refused = await fetchAll(urls, "--force");
  expect(refused.map(({ args }) => args.url)).toEqual(urls);
  for (const { result } of refused) expect(result.rejected!.reason).toBeTruthy();

  const rules = ["--allow", "WebFetch(localhost)", "--allow", "WebFetch(127.0.0.1)"];
  const allowed = await fetchAll(urls.slice(0, 2), ...rules);
  expect(allowed.map(({ result }) => result.rejected!.reason)).toEqual([
    "127.0.0.1 is not a public host: web_fetch reaches public hosts only, whatever the rules say",
    "localhost is not a public host: web_fetch reaches public hosts only, whatever the rules say",
  ]);
  const check = await runSheaf(["permissions", "check", "--url", urls[0]!, ...rules], { cwd: folders.newFolder({}) });
  expect(check.stdout).toMatch(/^deny: .* whatever the rules say\n$/);
  expect(requests).toBe(0);
});
