/** Checks of requests that a server must refuse (N52, section 7). */
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import type { RequestOptions } from "../http.ts";
import { demand, show, Skip } from "../violation.ts";

export const errorChecks = atLevel("base", [
  ["error-malformed", "N52", "400 for a body that is not a request, before anything starts", checkMalformed],
  ["error-names-field", "N52", "400 shows the wrong field", checkFieldNames],
  ["error-token", "N52 S-51", "401 or 403 without a token and with a wrong one", checkToken],
  ["error-unknown", "N52 S-53", "404 for what does not exist", checkUnknown],
  ["error-size", "N52 S-55", "413 for a body of 4 MiB, 415 for a body that is not JSON", checkSize],
  ["error-leaves-nothing", "N52", "after refused requests the server answers as before",
    async ({ http }) => {
      for (let count = 0; count < 20; count += 1) await http.send("POST", "/v1/chat", { rawBody: "{" });
      await http.expect(200, "N52", "GET", "/v1/models");
    }],
]); // prettier-ignore

const malformed: readonly (readonly [string, RequestOptions])[] = [
  ["no body", { headers: { "content-type": "application/json" } }],
  ["an empty body", { rawBody: "" }],
  ["half of an object", { rawBody: '{"message":"hi"' }],
  ["a list", { rawBody: "[]" }],
  ["a word", { rawBody: '"hi"' }],
  ["no message", { body: { mode: "ask" } }],
  ["a number as message", { body: { message: 1 } }],
  ["null as message", { body: { message: null } }],
  ["an unknown mode", { body: { message: "hi", mode: "fast" } }],
  ["a list as conversation", { body: { message: "hi", conversationId: [] } }],
  ["a word as stream", { body: { message: "hi", stream: "yes" } }],
  ["an unknown whenBusy", { body: { message: "hi", whenBusy: "wait" } }],
  ["an unknown approvals", { body: { message: "hi", approvals: "allow" } }],
  ["an unknown onDisconnect", { body: { message: "hi", onDisconnect: "stop" } }],
  ["answers that are not a list", { body: { message: "hi", answers: "jwt" } }],
  ["bytes that are not UTF-8", { rawBody: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) }],
];

async function checkMalformed({ http }: Context): Promise<void> {
  for (const accept of ["application/json", "text/event-stream"]) {
    for (const [what, options] of malformed) {
      const headers = { accept, ...options.headers };
      const { status } = await http.send("POST", "/v1/chat", { ...options, headers });
      demand(status === 400, "N52", `POST /v1/chat with ${what} gives ${status}, not 400`);
      await http.expectError(400, "POST", "/v1/chat", { ...options, headers });
    }
  }
}

async function checkFieldNames({ http }: Context): Promise<void> {
  for (const [field, value] of [
    ["message", 1],
    ["mode", "fast"],
    ["conversationId", 5],
    ["whenBusy", "wait"],
  ] as const) {
    const { text } = await http.send("POST", "/v1/chat", { body: { message: "hi", [field]: value } });
    demand(text.includes(field), "N52", `the error about ${field} does not name it: ${show(text)}`);
  }
}

async function checkToken({ http, options }: Context): Promise<void> {
  if (options.token === undefined) throw new Skip("the kit has no token");
  const wrong = [undefined, "Bearer wrong", "Bearer ", `Basic ${btoa(`x:${options.token}`)}`, options.token];
  const places = [
    ["GET", "/v1/models"],
    ["GET", "/v1/conversations"],
    ["POST", "/v1/chat"],
    ["GET", "/v1/responses/chat_x/events"],
  ] as const;
  for (const authorization of wrong) {
    for (const [method, path] of places) {
      const body = method === "POST" ? { body: { message: "hi" } } : {};
      await http.expectError([401, 403], method, path, { ...body, headers: { authorization } });
    }
  }
  const inAddress = await http.send("GET", `/v1/models?token=${options.token}`, {
    headers: { authorization: undefined },
  });
  demand(inAddress.status >= 400, "S-51", "a token in the address works; it belongs in the header Authorization");
}

const unknownId = "chat_00000000-0000-4000-8000-000000000000";
const unknownConversation = "conv_00000000-0000-4000-8000-000000000000";

async function checkUnknown({ http }: Context): Promise<void> {
  for (const id of [unknownId, "x", "..%2F..%2Fetc", "%00"]) {
    await http.expectError([400, 404], "GET", `/v1/responses/${id}`);
    await http.expectError([400, 404], "GET", `/v1/responses/${id}/events`);
  }
  await http.expectError(404, "GET", `/v1/responses/${unknownId}`);
  await http.expectError(404, "GET", `/v1/responses/${unknownId}/events`, { headers: { accept: "text/event-stream" } });
  await http.expectError(404, "POST", "/v1/chat", { body: { message: "hi", conversationId: unknownConversation } });
  await http.expectError([404, 405], "GET", "/v1/no-such-thing");
  await http.expectError([404, 405], "PUT", "/v1/chat", { body: { message: "hi" } });
}

async function checkSize({ http }: Context): Promise<void> {
  const large = { body: { message: "x".repeat(4 * 1024 * 1024) } };
  await http.expectError(413, "POST", "/v1/chat", large);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    const options = { rawBody: '{"message":"hi"}', headers: { "content-type": type } };
    await http.expectError(415, "POST", "/v1/chat", options);
  }
}
