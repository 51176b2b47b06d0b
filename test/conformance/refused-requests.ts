/** The table of S-50: requests that a server must refuse, with the statuses that each may get. */
import type { TestServer } from "../support/server.ts";

export interface RefusedRequest {
  readonly name: string;
  readonly request: string;
  /** 0: the connection is closed without an answer. */
  readonly statuses: readonly number[];
}

/** Parts of a request; what is not given is right. */
interface Parts {
  readonly method?: string;
  readonly path?: string;
  readonly version?: string;
  readonly host?: string | null;
  readonly token?: string | null;
  readonly type?: string | null;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The rows for a server. */
export function createRefusedRequests(server: Pick<TestServer, "port" | "token">): RefusedRequest[] {
  const build = (parts: Parts): string => {
    const { method = "POST", path = "/v1/chat", version = "HTTP/1.1", body = '{"message":"hi"}', headers = [] } = parts;
    const { host = `127.0.0.1:${server.port}`, token = `Bearer ${server.token}`, type = "application/json" } = parts;
    const hasBody =
      method !== "GET" && method !== "HEAD" && !headers.some((line) => /^(content-length|transfer)/i.test(line));
    const lines = [
      `${method} ${path} ${version}`,
      ...(host === null ? [] : [`Host: ${host}`]),
      ...(token === null ? [] : [`Authorization: ${token}`]),
      ...(type === null ? [] : [`Content-Type: ${type}`]),
      "Connection: close",
      ...headers,
      ...(hasBody ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    ];
    return `${lines.join("\r\n")}\r\n\r\n${method === "GET" || method === "HEAD" ? "" : body}`;
  };
  const row = (name: string, parts: Parts, ...statuses: number[]): RefusedRequest => ({
    name,
    request: build(parts),
    statuses,
  });
  return [
    ...createMethodRows(row),
    ...createTokenRows(row, server.token),
    ...createHostRows(row, server.port),
    ...createTypeRows(row),
    ...createBodyRows(row),
    ...createPathRows(row),
    ...createFormRows(row, build),
  ];
}

type Row = (name: string, parts: Parts, ...statuses: number[]) => RefusedRequest;

const routes: readonly (readonly [path: string, allowed: readonly string[]])[] = [
  ["/v1/chat", ["POST"]],
  ["/v1/responses/chat_1", ["GET"]],
  ["/v1/responses/chat_1/events", ["GET"]],
  ["/v1/responses/chat_1/cancel", ["POST"]],
  ["/v1/responses/chat_1/approvals/appr_1", ["POST"]],
  ["/v1/conversations", ["GET"]],
  ["/v1/conversations/conv_1", ["GET", "PATCH", "DELETE"]],
  ["/v1/conversations/conv_1/fork", ["POST"]],
  ["/v1/conversations/conv_1/revert", ["POST"]],
  ["/v1/chat/completions", ["POST"]],
  ["/v1/responses", ["POST"]],
  ["/v1/models", ["GET"]],
  ["/v1/models/offline", ["GET"]],
  ["/v1/openapi.json", ["GET"]],
  ["/v1/schema/events.json", ["GET"]],
  ["/v1/session", ["POST", "DELETE"]],
  ["/metrics", ["GET"]],
];

function createMethodRows(row: Row): RefusedRequest[] {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
  return routes.flatMap(([path, allowed]) =>
    methods
      .filter((method) => !allowed.includes(method))
      .map((method) => row(`${method} ${path}`, { method, path }, 405)),
  );
}

function createTokenRows(row: Row, token: string): RefusedRequest[] {
  const wrong: readonly (readonly [string, string | null, ...string[]])[] = [
    ["no token", null],
    ["another scheme", `Basic ${Buffer.from(`user:${token}`).toString("base64")}`],
    ["no scheme", token],
    ["an empty token", "Bearer "],
    ["a wrong token", `Bearer ${"x".repeat(43)}`],
    ["the token and more", `Bearer ${token}x`],
    ["the token cut", `Bearer ${token.slice(0, -1)}`],
    ["two tokens", `Bearer ${token} ${token}`],
    ["a forged cookie", null, "Cookie: sheaf_session=forged"],
    ["the token as a cookie", null, `Cookie: sheaf_session=${token}`],
    ["two Authorization headers", "Bearer x", `Authorization: Bearer ${token}`],
  ];
  const rows = wrong.map(([name, value, ...headers]) => row(name, { token: value, headers }, 400, 401));
  const open = routes
    .filter(([path]) => path !== "/v1/session")
    .map(([path, [method = ""]]) => row(`${method} ${path} without a token`, { method, path, token: null }, 401));
  return [...rows, ...open, row("the token in the query", { token: null, path: `/v1/chat?token=${token}` }, 401)];
}

function createHostRows(row: Row, port: number): RefusedRequest[] {
  const hosts: readonly (string | null)[] = [
    null,
    "",
    "evil.example",
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    "127.0.0.1:1",
    "localhost:1",
    "127.0.0.1",
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}/x`,
    `0x7f.1:${port}`,
    `2130706433:${port}`,
    `127.1:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    "[",
    "a b",
    "\u00e9",
    `127.0.0.1:${port}\\`,
    "127.0.0.1:99999",
  ];
  const origins = [
    "null",
    "http://evil.example",
    "http://127.0.0.1:1",
    `http://127.0.0.1:${port}.evil.example`,
    "file://",
    "x",
  ];
  return [
    ...hosts.map((host) => row(`host ${host}`, { host }, 400, 403)),
    row("two hosts", { headers: ["Host: evil.example"] }, 400),
    row("no host in HTTP/1.0", { host: null, version: "HTTP/1.0" }, 400),
    row("an absolute address", { path: "http://evil.example/v1/chat" }, 400),
    row("an absolute address that is none", { path: "http://[/" }, 400),
    row("an address of nothing", { path: "*" }, 400),
    row("a backslash", { path: "/v1\\chat" }, 400),
    row("an unknown expectation", { headers: ["Expect: x"], token: null }, 401),
    ...origins.map((origin) => row(`origin ${origin}`, { headers: [`Origin: ${origin}`] }, 403)),
    ...origins.map((origin) =>
      row(`GET from ${origin}`, { method: "GET", path: "/v1/models", headers: [`Origin: ${origin}`] }, 403),
    ),
    ...["cross-site", "same-site", "x"].map((site) =>
      row(`Sec-Fetch-Site ${site}`, { headers: [`Sec-Fetch-Site: ${site}`] }, 403),
    ),
    row(
      "a preflight",
      {
        method: "OPTIONS",
        token: null,
        headers: [
          "Origin: http://evil.example",
          "Access-Control-Request-Method: POST",
          "Access-Control-Request-Private-Network: true",
        ],
      },
      403,
      405,
    ),
  ];
}

function createTypeRows(row: Row): RefusedRequest[] {
  const types = [
    null,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
    "application/json; charset=iso-8859-1",
    "text/json",
  ];
  return [
    ...types.map((type) => row(`content type ${type}`, { type }, 415)),
    row("a compressed body", { headers: ["Content-Encoding: gzip"] }, 415),
    row("another type for a fork", { path: "/v1/session", token: null, type: "text/plain" }, 415),
  ];
}

function createBodyRows(row: Row): RefusedRequest[] {
  const bodies: readonly (readonly [string, string])[] = [
    ["null", "null"],
    ["a number", "1"],
    ["two objects", '{"message":"a"}{"message":"b"}'],
    ["an empty message", '{"message":"  "}'],
    ["a message that is a list", '{"message":["hi"]}'],
    ["an answer without a question", '{"message":"hi","answers":[{"documentId":"doc_001"}]}'],
    [
      "answers without a conversation",
      '{"message":"","answers":[{"documentId":"doc_001","questionId":"q","optionIds":[],"text":"x"}]}',
    ],
    ["a negative budget", '{"message":"hi","budget":{"maxTurns":-1}}'],
    ["a budget that is a part", '{"message":"hi","budget":{"maxTurns":1.5}}'],
    ["a budget that is a text", '{"message":"hi","budget":{"maxTokens":"9"}}'],
    ["an endless time", '{"message":"hi","budget":{"timeout":1e99}}'],
    ["an empty conversation id", '{"message":"hi","conversationId":""}'],
    ["a conversation id that is too long", JSON.stringify({ message: "hi", conversationId: "c".repeat(300) })],
    ["a workspace that is not served", '{"message":"hi","workspace":"/etc"}'],
    ["a prototype", '{"message":"hi","__proto__":{"mode":"agent"}}'],
    ["a prototype inside", '{"message":"hi","budget":{"__proto__":{"maxTurns":9}}}'],
    ["deep lists", `{"message":"hi","x":${"[".repeat(200)}${"]".repeat(200)}}`],
    ["very deep lists", `{"message":"hi","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
    ["NUL", "\0"],
    ["comments", '{"message":"hi"/* x */}'],
    ["a byte order mark and more", '\uFEFF\uFEFF{"message":"hi"}'],
  ];
  const large = "x".repeat(1024 * 1024);
  return [
    ...bodies.map(([name, body]) => row(`body: ${name}`, { body }, 400)),
    row("body: a conversation that is not there", { body: '{"message":"hi","conversationId":"conv_x"}' }, 404),
    row("body: a model that is not offered", { body: '{"message":"hi","model":"scripted:/etc/passwd"}' }, 404),
    row("a large body", { body: JSON.stringify({ message: large }) }, 413),
    row("a body that says that it is large", { headers: ["Content-Length: 99999999"], body: "{" }, 413),
    row(
      "a large body in chunks",
      { headers: ["Transfer-Encoding: chunked"], body: `100000\r\n${large}\r\n100000\r\n${large}\r\n0\r\n\r\n` },
      413,
    ),
  ];
}

function createPathRows(row: Row): RefusedRequest[] {
  const paths = [
    "/nothing",
    "/v1",
    "/v1/",
    "/v1/chat/",
    "/v2/chat",
    "//v1/chat",
    "/v1/./schema/x",
    "/../../etc/passwd",
    "/assets/../../server-token",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc%2fpasswd",
    "/v1/responses/..%2f..%2fx",
    "/v1/responses/%00",
    "/v1/responses/%zz",
    "/v1/responses/chat_x",
    "/v1/responses/chat_x/events",
    "/v1/conversations/conv_x",
    "/v1/schema/nothing.json",
    "/v1/schema/__proto__.json",
    "/v1/responses/' OR 1=1 --".replaceAll(" ", "%20"),
    `/v1/responses/${"x".repeat(4000)}`,
    "/server-token",
    "/.env",
    "/index.html~",
  ];
  const queries = [
    "/v1/conversations?limit=0",
    "/v1/conversations?limit=-1",
    "/v1/conversations?limit=1e3",
    "/v1/conversations?limit=201",
    "/v1/conversations?before=%00",
    "/v1/conversations?before=x",
  ];
  return [
    ...paths.map((path) => row(`GET ${path.slice(0, 60)}`, { method: "GET", path }, 400, 404)),
    ...paths.slice(0, 10).map((path) => row(`POST ${path}`, { path }, 400, 404)),
    ...queries.map((path) => row(`GET ${path}`, { method: "GET", path }, 400)),
    row("a long address", { method: "GET", path: `/${"x".repeat(9000)}` }, 414),
    row("a cancel of nothing", { path: "/v1/responses/chat_x/cancel" }, 404),
    row("a key that is too long", { headers: [`Idempotency-Key: ${"k".repeat(300)}`] }, 400),
    row("a key that is not text", { headers: ["Idempotency-Key: \u00e9"] }, 400),
  ];
}

/** What is not HTTP, or two requests in one. */
function createFormRows(row: Row, build: (parts: Parts) => string): RefusedRequest[] {
  const chunked = "0\r\n\r\n";
  const raw = (name: string, request: string, ...statuses: number[]): RefusedRequest => ({ name, request, statuses });
  const right = build({});
  return [
    row("a large head", { headers: [`X-Large: ${"x".repeat(20_000)}`] }, 431),
    row("many headers", { headers: Array.from({ length: 3000 }, (_, index) => `X-${index}: y`) }, 431),
    row("length and chunks", { headers: ["Content-Length: 5", "Transfer-Encoding: chunked"], body: chunked }, 400),
    row("chunks and length", { headers: ["Transfer-Encoding: chunked", "Content-Length: 5"], body: chunked }, 400),
    row("two lengths", { headers: ["Content-Length: 16", "Content-Length: 17"] }, 400),
    row("two lengths in one", { headers: ["Content-Length: 16, 17"] }, 400),
    row("a negative length", { headers: ["Content-Length: -1"] }, 400),
    row("a length with a plus", { headers: ["Content-Length: +16"] }, 400),
    row("a length in hex", { headers: ["Content-Length: 0x10"] }, 400),
    row("an endless length", { headers: [`Content-Length: ${"9".repeat(40)}`] }, 400),
    row("an unknown coding", { headers: ["Transfer-Encoding: xchunked"], body: chunked }, 400, 501),
    row("chunks twice", { headers: ["Transfer-Encoding: chunked, chunked"], body: chunked }, 400),
    row("chunks first", { headers: ["Transfer-Encoding: chunked, gzip"], body: chunked }, 400),
    row("a blank before the colon", { headers: ["Transfer-Encoding : chunked"], body: chunked }, 400),
    row("a chunk size that is none", { headers: ["Transfer-Encoding: chunked"], body: "zz\r\n{}\r\n0\r\n\r\n" }, 400),
    row(
      "a chunk with more than it says",
      { headers: ["Transfer-Encoding: chunked"], body: "2\r\n{}}}\r\n0\r\n\r\n" },
      400,
    ),
    row("a header with NUL", { headers: ["X-Bad: a\0b"] }, 400),
    row("a header with a bare CR", { headers: ["X-Bad: a\rX-Worse: b"] }, 400),
    row("a header without a colon", { headers: ["nonsense"] }, 400),
    row("a header name with a blank", { headers: ["X Bad: a"] }, 400),
    row("a folded header", { headers: ["X-Bad: a", " b"] }, 400),
    row("another version", { version: "HTTP/1.9" }, 400),
    row("HTTP/2", { version: "HTTP/2.0" }, 400),
    row("no version", { version: "" }, 400),
    row("another protocol", { version: "FTP/1.1" }, 400),
    row("a method in small letters", { method: "post" }, 400),
    row("a method that is none", { method: "P<ST" }, 400),
    row("CONNECT", { method: "CONNECT", path: "127.0.0.1:22" }, 405),
    raw("nothing but line ends", "\r\n\r\n\r\n\r\nx\r\n\r\n", 400),
    raw("a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    raw("bare line feeds", right.replaceAll("\r\n", "\n"), 400),
    raw("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    row("an upgrade of nothing", { path: "/v1/nothing", headers: ["Upgrade: websocket"] }, 404),
  ];
}
