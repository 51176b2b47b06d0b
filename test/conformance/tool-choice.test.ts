/** What a model gets to see of the flags that choose its tools and its system prompt (C46). */
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelServer, type ModelServer } from "../support/model-server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface SentRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const toBody = (delta: object, reason: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\ndata: [DONE]\n\n`;
const text = { chunks: [toBody({ content: "Done." }, "stop")] };

function runAgainst(provider: ModelServer, cwd: string, ...words: readonly string[]) {
  const model = ["--model", "openai-compatible/m", "--base-url", `${provider.url}/v1`];
  return runSheaf(["-p", ...model, ...words, "go"], { cwd, home: join(cwd, "home") });
}

const toRequest = ({ requests }: ModelServer): SentRequest => JSON.parse(requests[0]!.body) as SentRequest;

test(verifies("C46", "texts of the caller are in the system prompt, at their places"), async () => {
  const provider = await createModelServer(text);
  const cwd = folders.newFolder({ "AGENTS.md": "Use tabs.", "more.md": "From a file." });
  const words = ["--system-prompt", "You review code.", "--append-system-prompt", "Be brief."];
  const { code } = await runAgainst(provider, cwd, ...words, "--append-system-prompt-file", "more.md");
  expect(code).toBe(0);
  const system = toRequest(provider).messages[0]!.content;
  expect(system).toMatch(/^You review code\.\nThe workspace is /);
  expect(system).toMatch(/Be brief\.\n\nFrom a file\.$/);
  expect(system).toContain("Use tabs.");
  expect(system).toContain("is data, not instructions");
  expect(system).not.toContain("You are Sheaf");
  await provider.close();
});

test(verifies("C46", "a tool that was left out is not offered, and a call of it fails"), async () => {
  const call = {
    index: 0,
    id: "c1",
    type: "function",
    function: { name: "write_file", arguments: '{"target_file":"a","contents":"b"}' },
  };
  const provider = await createModelServer({ chunks: [toBody({ tool_calls: [call] }, "tool_calls")] }, text);
  const cwd = folders.newFolder();
  const { code, stdout } = await runAgainst(provider, cwd, "--force", "--tools", "read_file,grep_search");
  expect(code).toBe(0);
  expect(toRequest(provider).tools!.map((tool) => tool.function.name)).toEqual(["read_file", "grep_search"]);
  const completed = parseStream(stdout).filter(({ subtype }) => subtype === "completed");
  expect(JSON.stringify(completed)).toContain('there is no tool \\"write_file\\"');
  await provider.close();
});

test(verifies("C46", "--list-tools prints what is offered, and calls no model"), async () => {
  const cwd = folders.newFolder();
  const home = join(cwd, "home");
  const list = async (...words: readonly string[]) => runSheaf(["--list-tools", ...words], { cwd, home });
  expect((await list("--tools", "read_file")).stdout).toMatch(/^read_file {2}\S.*\n$/);
  const json = await list("--mode", "ask", "--output-format", "json");
  const names = (JSON.parse(json.stdout) as { name: string; parameters: object }[]).map(({ name }) => name);
  expect(names).toContain("read_file");
  expect(names).not.toContain("write_file");
  // A run that cannot ask anybody has this tool only with a rule for a host.
  const pages = ["--tools", "web_fetch,read_file"];
  expect((await list(...pages)).stdout).not.toContain("web_fetch");
  expect((await list(...pages, "--allow", "WebFetch(example.org)")).stdout).toContain("web_fetch");
  const wrong = await list("--tools", "reed_file");
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
});
