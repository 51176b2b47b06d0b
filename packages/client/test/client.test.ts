/** What each method asks the server, and what it makes of the answer. */
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createClient, type ClientOptions, type SheafClient } from "../src/index.ts";

interface Asked {
  readonly method: string;
  readonly address: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client whose requests are noted, and answered with this. */
function openClient(
  answer: () => Response | Promise<Response> = () => Response.json({}),
  options: Partial<ClientOptions> = {},
): { readonly client: SheafClient; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const client = createClient({
    baseUrl: "http://sheaf.test/base/",
    fetch: async (input, { method = "", body, headers } = {}) => {
      asked.push({
        method,
        address: input instanceof Request ? input.url : input.toString(),
        body: typeof body === "string" ? JSON.parse(body) : undefined,
        headers: Object.fromEntries(new Headers(headers)),
      });
      return answer();
    },
    reconnect: { maxTries: 0 },
    ...options,
  });
  return { client, asked };
}

const id = "a/ä";
const root = "http://sheaf.test/base/v1";

test.each<[string, (client: SheafClient) => Promise<unknown>, Partial<Asked>]>([
  ["getResponse", (client) => client.getResponse(id), { address: `${root}/responses/a%2F%C3%A4` }],
  [
    "cancel",
    (client) => client.cancel(id),
    { method: "POST", address: `${root}/responses/a%2F%C3%A4/cancel`, body: {} },
  ],
  [
    "resolveApproval",
    (client) => client.resolveApproval(id, "b?", { optionId: "yes", message: "Do." }),
    {
      method: "POST",
      address: `${root}/responses/a%2F%C3%A4/approvals/b%3F`,
      body: { optionId: "yes", message: "Do." },
    },
  ],
  [
    "addAttachment",
    (client) => client.addAttachment({ name: "a.txt", blob: new Blob(["hé"]) }),
    { method: "POST", address: `${root}/attachments`, body: { name: "a.txt", data: "aMOp" } },
  ],
  ["getAttachment", (client) => client.getAttachment(id), { address: `${root}/attachments/a%2F%C3%A4` }],
  ["listAttachments", (client) => client.listAttachments(), { address: `${root}/attachments` }],
  [
    "deleteAttachment",
    (client) => client.deleteAttachment(id),
    { method: "DELETE", address: `${root}/attachments/a%2F%C3%A4` },
  ],
  [
    "readAttachment",
    (client) => client.readAttachment(id, 2),
    { address: `${root}/responses/a%2F%C3%A4/attachments/2` },
  ],
  ["listConversations", (client) => client.listConversations(), { address: `${root}/conversations` }],
  [
    "listConversations with a query",
    (client) => client.listConversations({ limit: 5, before: "x&y", search: "ä b", pinned: "first" }),
    { address: `${root}/conversations?limit=5&before=x%26y&search=%C3%A4+b&pinned=first` },
  ],
  ["getConversation", (client) => client.getConversation(id), { address: `${root}/conversations/a%2F%C3%A4` }],
  [
    "deleteConversation",
    (client) => client.deleteConversation(id),
    { method: "DELETE", address: `${root}/conversations/a%2F%C3%A4`, body: undefined },
  ],
  [
    "forkConversation",
    (client) => client.forkConversation(id, "chat_1"),
    { method: "POST", address: `${root}/conversations/a%2F%C3%A4/fork`, body: { responseId: "chat_1" } },
  ],
  [
    "revertConversation",
    (client) => client.revertConversation(id, "chat_1"),
    { method: "POST", address: `${root}/conversations/a%2F%C3%A4/revert`, body: { responseId: "chat_1" } },
  ],
  [
    "revertConversation over the changes of others",
    (client) => client.revertConversation(id, "chat_1", { onConflict: "overwrite" }),
    {
      method: "POST",
      address: `${root}/conversations/a%2F%C3%A4/revert`,
      body: { responseId: "chat_1", onConflict: "overwrite" },
    },
  ],
  [
    "showBranch",
    (client) => client.showBranch(id, "chat_1", { dryRun: true }),
    {
      method: "POST",
      address: `${root}/conversations/a%2F%C3%A4/branches`,
      body: { responseId: "chat_1", dryRun: true },
    },
  ],
  ["listModels", (client) => client.listModels(), { address: `${root}/models` }],
])("%s", async (_, call, expected) => {
  const { client, asked } = openClient();
  await call(client);
  expect(asked).toEqual([expect.objectContaining({ method: "GET", ...expected })]);
  expect(asked[0]?.headers["content-type"]).toBe(expected.method === "POST" ? "application/json" : undefined);
});

test(verifies("X9", "each message has a key of its own, or the caller's"), async () => {
  const { client, asked } = openClient(() => Response.json({}, { status: 400 }));
  const request = { message: "Hi", mode: "ask", whenBusy: "queue", accept: { reasoning: true } } as const;
  for (const options of [{}, {}, { idempotencyKey: "mine" }]) {
    await expect(client.chat(request, options).readToEnd()).rejects.toMatchObject({ errorCode: "HTTP_400" });
  }
  expect(asked[0]).toMatchObject({ method: "POST", address: `${root}/chat`, body: { ...request, stream: true } });
  expect(asked[0]?.headers["accept"]).toBe("text/event-stream");
  const keys = asked.map(({ headers }) => headers["idempotency-key"]);
  expect(keys[2]).toBe("mine");
  expect(keys[0]).toMatch(/^[0-9]{30,50}$/);
  expect(new Set(keys).size).toBe(3);
});

test(verifies("S-51", "the token goes in one header, and is asked for before each request"), async () => {
  let count = 0;
  const token = async (): Promise<string> => `t${(count += 1)}`;
  for (const [options, expected] of [
    [{}, [undefined, undefined]],
    [{ token: "secret" }, ["Bearer secret", "Bearer secret"]],
    [{ token }, ["Bearer t1", "Bearer t2"]],
  ] as const) {
    const { client, asked } = openClient(undefined, options);
    await client.listModels();
    await client.getResponse("chat_1");
    expect(asked.map(({ headers }) => headers["authorization"])).toEqual(expected);
    expect(JSON.stringify(asked.map(({ address }) => address))).not.toMatch(/secret|t1/);
  }
});

test("a page can leave the address out", async () => {
  const { client, asked } = openClient(undefined, { baseUrl: "" });
  await client.listModels();
  expect(asked[0]?.address).toBe("/v1/models");
});

test(
  verifies(["X14", "N1"], "the version that the client speaks is told; unknown fields of an answer are kept"),
  async () => {
    const { client, asked } = openClient(() => Response.json({ conversations: [], other: 1 }));
    expect(await client.listConversations()).toEqual({ conversations: [], other: 1 });
    expect(asked[0]?.headers["sheaf-protocol"]).toBe("1.0");
  },
);

test.each([
  [
    "of the contract",
    { error: { errorCode: "CONVERSATION_BUSY", message: "Wait.", source: "server", details: "chat_2" } },
    { errorCode: "CONVERSATION_BUSY", message: "Wait.", source: "server", details: "chat_2" },
  ],
  [
    "with half of its fields",
    { error: { errorCode: "CONVERSATION_BUSY", message: "Wait." } },
    { errorCode: "CONVERSATION_BUSY", message: "Wait.", source: "server" },
  ],
  ["of someone else", { error: "no" }, { errorCode: "HTTP_409", details: '{"error":"no"}' }],
  ["without sense", null, { errorCode: "HTTP_409", details: "null" }],
])(verifies("N52", "an error %s is typed"), async (_, body, expected) => {
  const { client } = openClient(() => Response.json(body, { status: 409, headers: { "retry-after": "3" } }));
  await expect(client.listModels()).rejects.toMatchObject({
    name: "SheafApiError",
    status: 409,
    retryAfter: 3000,
    ...expected,
  });
});

test.each([
  ["2", 2000],
  ["0.5", 500],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
])("Retry-After %j is %s ms", async (value, expected) => {
  const { client } = openClient(() => new Response("", { status: 503, headers: { "retry-after": value } }));
  await expect(client.listModels()).rejects.toMatchObject({ retryAfter: expected });
});

test("a server that is not there, and a request that was given up, are told apart", async () => {
  const { client } = openClient(() => Promise.reject(new TypeError("fetch failed")));
  await expect(client.listModels()).rejects.toMatchObject({
    name: "ConnectionError",
    message: `GET ${root}/models got no answer: fetch failed.`,
    cause: expect.objectContaining({ message: "fetch failed" }),
  });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.listModels({ signal })).rejects.toThrow("enough");
});

test("a token that cannot be had is the caller's error, at once", async () => {
  const token = (): never => {
    throw new Error("signed out");
  };
  const { client, asked } = openClient(undefined, { token, reconnect: { maxTries: 5 } });
  await expect(client.chat({ message: "Hi" }).readToEnd()).rejects.toThrow("signed out");
  expect(asked).toEqual([]);
});
