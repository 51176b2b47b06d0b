/** Clients of other APIs, unmodified, as they come from the registry: they need the server's address and its token. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { generateText, streamText, type LanguageModel } from "ai";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { describeWithChromium } from "../support/chromium.ts";
import { installClients } from "../support/clients.ts";
import { describeWhere, skipIfMissing } from "../support/describe-where.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const runProgram = promisify(execFile);
const folders = createTestFolder();
const clients = folders.newFolder();
const missing = await installClients(clients);

const script = {
  turns: [
    {
      events: [
        { reasoning: "I must look." },
        { text: "I will look.", chunk: 4 },
        { call: { tool: "read_file", arguments: { target_file: "README.md" } } },
      ],
      usage: { promptTokens: 100, completionTokens: 20 },
    },
    { events: [{ text: "It is a project.", chunk: 4 }], usage: { promptTokens: 150, completionTokens: 10 } },
  ],
  after: "loop",
};
const text = "I will look.\n\nIt is a project.";

const start = (served: unknown = script, args: readonly string[] = []): Promise<TestServer> =>
  startServer({ script: served, args });

/** A package of them. */
const load = async <Package>(name: string): Promise<Package> => {
  const file = createRequire(join(clients, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as Package;
};

describeWhere("openai", missing, () => {
  /** The part of the package that the test uses. */
  interface Package {
    readonly default: new (options: { readonly baseURL: string; readonly apiKey: string }) => {
      readonly models: {
        list(): Promise<AsyncIterable<{ readonly id: string }>>;
        retrieve(id: string): Promise<{ readonly id: string }>;
      };
      readonly chat: {
        readonly completions: { create(body: object): Promise<AsyncIterable<Completion> & Completion> };
      };
      readonly responses: {
        create(body: object): Promise<{ readonly id: string; readonly output_text: string }>;
        stream(body: object): { finalResponse(): Promise<{ readonly output_text: string }> };
      };
    };
  }

  interface Completion {
    readonly choices: readonly {
      readonly message: { readonly content: string };
      readonly delta: { readonly content?: string };
      readonly finish_reason: string | null;
    }[];
    readonly usage?: { readonly total_tokens: number } | null;
  }

  const open = async ({ address, token }: TestServer, key = token) => {
    const { default: Client } = await load<Package>("openai");
    return new Client({ baseURL: `${address}/v1`, apiKey: key });
  };

  const messages = [{ role: "user", content: "What is it?" }];

  test(verifies(["X20", "N71"], "lists the models, and gets an answer whole and in chunks"), async () => {
    const client = await open(await start());
    const ids: string[] = [];
    for await (const { id } of await client.models.list()) ids.push(id);
    const model = ids[0]!;
    expect(await client.models.retrieve(model)).toMatchObject({ id: model });
    const whole = await client.chat.completions.create({ model, messages, temperature: 0 });
    expect(whole.choices).toMatchObject([{ message: { content: text }, finish_reason: "stop" }]);
    expect(whole.usage).toMatchObject({ total_tokens: 280 });
    const chunks: Completion[] = [];
    const streamed = { model, messages, stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await client.chat.completions.create(streamed)) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(text);
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe("stop");
    expect(chunks.at(-1)!.usage).toMatchObject({ total_tokens: 280 });
  });

  test(verifies("N72", "gets Responses whole and in events, and continues them"), async () => {
    const server = await start();
    const client = await open(server);
    const model = server.model;
    const first = await client.responses.create({ model, input: "What is it?" });
    expect(first.output_text).toBe(text);
    const next = { model, input: "And then?", previous_response_id: first.id };
    expect((await client.responses.create(next)).output_text).toBe(text);
    const streamed = client.responses.stream({ model, input: "What is it?" });
    expect((await streamed.finalResponse()).output_text).toBe(text);
  });

  test(verifies(["X20", "X21"], "throws the errors of the server, and sends nothing twice"), async () => {
    const server = await start({
      turns: [{ events: [{ text: "Begun." }, { error: { code: "OVERLOADED", message: "full" } }] }],
      after: "loop",
    });
    const client = await open(server);
    const model = server.model;
    const ask = (body: object) => client.chat.completions.create({ model, messages, ...body });
    await expect(ask({})).rejects.toMatchObject({ status: 503, code: "OVERLOADED", type: "server_error" });
    const conversations = await server.listConversations();
    expect(conversations).toHaveLength(1);
    const stream = await ask({ stream: true });
    await expect(
      (async () => {
        for await (const chunk of stream) expect(chunk.choices).toHaveLength(1);
      })(),
    ).rejects.toMatchObject({ code: "OVERLOADED" });
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    await expect(ask({ tools })).rejects.toMatchObject({ status: 400, param: "tools" });
    await expect(ask({ model: "gpt-99" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    const stranger = await open(server, "wrong");
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401 });
    await expect(stranger.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  });
});

describeWhere("@ai-sdk/openai", missing, () => {
  interface Package {
    readonly createOpenAI: (options: object) => (model: string) => LanguageModel;
  }

  test(verifies("N72", "generates, streams, and names what was said before"), async () => {
    const server = await start();
    const { createOpenAI } = await load<Package>("@ai-sdk/openai");
    const provider = createOpenAI({ baseURL: `${server.address}/v1`, apiKey: server.token });
    const model = provider(server.model);
    const user = { role: "user", content: "What is it?" } as const;
    const first = await generateText({ model, messages: [user], maxRetries: 0 });
    expect(first.text).toBe(text);
    const messages = [user, ...first.response.messages, user];
    const streamed = streamText({ model, messages, maxRetries: 0 });
    expect(await streamed.text).toBe("It is a project.");
    expect(await streamed.finishReason).toBe("stop");
  });
});

describeWhere("@ai-sdk/openai-compatible", missing, () => {
  interface Package {
    readonly createOpenAICompatible: (options: object) => (model: string) => LanguageModel;
  }

  test(verifies("X20", "generates and streams, with reasoning"), async () => {
    const server = await start();
    const { createOpenAICompatible } = await load<Package>("@ai-sdk/openai-compatible");
    const provider = createOpenAICompatible({
      name: "sheaf",
      baseURL: `${server.address}/v1`,
      apiKey: server.token,
      includeUsage: true,
      transformRequestBody: (body: object) => ({ ...body, accept: { reasoning: true } }),
    });
    const model = provider(server.model);
    const whole = await generateText({ model, prompt: "What is it?", maxRetries: 0 });
    expect(whole.text).toBe(text);
    expect(whole.reasoningText).toBe("I must look.");
    expect(whole.totalUsage).toMatchObject({ totalTokens: 280 });
    const streamed = streamText({ model, prompt: "What is it?", maxRetries: 0 });
    expect(await streamed.text).toBe(text);
    expect(await streamed.reasoningText).toBe("I must look.");
    expect(await streamed.finishReason).toBe("stop");
  });
});

/** What a developer writes with the types that openapi-typescript makes: no cast. */
const typedProgram = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.mts";

type FileEdit = components["schemas"]["file-edit-document"];
const [baseUrl = "", token = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${token}\` } });
const { data, error } = await client.POST("/v1/chat", { body: { message: "go", mode: "ask" } });
if (error) throw new Error(error.error.errorCode);
const edits: FileEdit[] = [];
for (const document of data.documents) {
  if (document.type === "text") console.log(document.content, document.metadata.format);
  if (document.type === "file_edit") edits.push(document);
}
const params = { path: { id: data.conversationId } };
const changed = await client.PATCH("/v1/conversations/{id}", { params, body: { title: "A name", effort: null } });
const { data: list } = await client.GET("/v1/conversations", { params: { query: { limit: 3 } } });
const { data: changes } = await client.GET("/v1/conversations/{id}/changes", { params });
console.log(changed.data?.title, list?.conversations[0]?.mode, changes?.files.length, edits.length);
const { data: stream } = await client.POST("/v1/chat/stream", { body: { message: "go" }, parseAs: "text" });
console.log(stream?.includes("event: response_start"));
`;

test(
  verifies(["X10", "X33"], "a client generated by openapi-typescript is typed without casts, and works"),
  async () => {
    skipIfMissing(missing);
    const server = await start({ turns: [{ events: [{ text: "Hello." }] }], after: "loop" });
    const description: unknown = await server.read("/v1/openapi.json");
    const { default: generate, astToString } = await load<{
      readonly default: (description: unknown) => Promise<unknown>;
      readonly astToString: (nodes: unknown) => string;
    }>("openapi-typescript");
    writeFileSync(join(clients, "api.mts"), astToString(await generate(description)));
    writeFileSync(join(clients, "typed.mts"), typedProgram);
    const flags =
      "--noEmit --strict --target es2023 --module nodenext --allowImportingTsExtensions --skipLibCheck --types node";
    const types = ["--typeRoots", join(import.meta.dirname, "../../node_modules/@types")];
    const compiler = join(clients, "node_modules/typescript/bin/tsc");
    const compile = [compiler, ...flags.split(" "), ...types, "typed.mts"];
    // What the compiler finds is on its stdout.
    const found = await runProgram(process.execPath, compile, { cwd: clients }).catch(
      (error: { stdout: string }) => error,
    );
    expect(found.stdout).toBe("");
    const { stdout } = await runProgram(process.execPath, ["typed.mts", server.address, server.token], {
      cwd: clients,
    });
    expect(stdout).toBe("Hello. markdown\nA name ask 0 0\ntrue\n");
  },
);

/** As a front end has it: the hook, the transport, and what shows the parts. */
const page = `
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { createRoot } from "react-dom/client";

const { api, token } = window.settings;
const transport = new DefaultChatTransport({ api, headers: { Authorization: "Bearer " + token }, body: { approvals: "ask" } });

function Part({ part, answer }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <i>{part.text}</i>;
  if (part.type !== "dynamic-tool") return null;
  const approve = part.state === "approval-requested" && <button onClick={() => answer(part.approval.id)}>Allow</button>;
  return <pre>{part.toolName}: {part.state} {part.output} {approve}</pre>;
}

function Chat() {
  const { messages, sendMessage, addToolApprovalResponse, regenerate, status, error } = useChat({
    transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const answer = (id) => addToolApprovalResponse({ id, approved: true });
  return <>
    {messages.map((message) => <article key={message.id}>{message.parts.map((part, index) => <Part key={index} part={part} answer={answer} />)}</article>)}
    <button onClick={() => sendMessage({ text: "Go" })}>Send</button>
    <button onClick={() => regenerate()}>Again</button>
    <output>{status} {error?.message}</output>
  </>;
}

createRoot(document.body).render(<Chat />);
`;

/** Serves the page from an origin of its own. */
async function servePage(): Promise<{ readonly origin: string; show(settings: object): void }> {
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: clients, loader: "tsx" },
    bundle: true,
    write: false,
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  let settings = {};
  const address = await serveHttp((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    const body = `<body><script>window.settings = ${JSON.stringify(settings)}</script><script defer src="/page.js"></script>`;
    response.end(isScript ? outputFiles[0]!.text : `<!doctype html><meta charset="utf-8">${body}`);
  });
  return {
    origin: address.replace("127.0.0.1", "localhost"),
    show: (others) => (settings = others),
  };
}

describeWithChromium("useChat of @ai-sdk/react in a page of another origin", (browser) => {
  test(verifies(["X22", "X23", "X24"], "shows reasoning, tools and text, and answers a question"), async () => {
    skipIfMissing(missing);
    const site = await servePage();
    const command = { tool: "run_terminal_cmd", arguments: { command: "node -p 6*7" } };
    const events = [{ reasoning: "I must count." }, { text: "I count." }, { call: command }];
    const counting = { turns: [{ events }, { events: [{ text: "It is 42." }] }] };
    const server = await start(counting, ["--sandbox", "disabled", "--allow-origin", site.origin]);
    site.show({ api: `${server.address}/v1/ui/chat`, token: server.token });
    const tab = await browser.borrowPage();
    await tab.goto(site.origin);
    await tab.getByRole("button", { name: "Send" }).click();
    await tab.getByRole("button", { name: "Allow" }).click();
    await tab.getByText("It is 42.").waitFor();
    await expect.poll(() => tab.locator("output").textContent()).toBe("ready ");
    expect(await tab.locator("i").textContent()).toBe("I must count.");
    expect(await tab.locator("pre").textContent()).toContain("run_terminal_cmd: output-available 42");
    await tab.getByRole("button", { name: "Again" }).click();
    await tab.getByRole("button", { name: "Allow" }).waitFor();
    expect(await tab.locator("article").count()).toBe(2);
  });

  test(verifies("X24", "a page that was not named gets nothing"), async () => {
    skipIfMissing(missing);
    const site = await servePage();
    const server = await start(script, ["--allow-origin", "http://localhost:1"]);
    site.show({ api: `${server.address}/v1/ui/chat`, token: server.token });
    const tab = await browser.borrowPage();
    await tab.goto(site.origin);
    await tab.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => tab.locator("output").textContent()).toBe("error Failed to fetch");
    expect(await server.read("/v1/conversations")).toEqual({ conversations: [] });
  });
});
