/** Users of an identity provider (S-270): a provider on this machine signs tokens, and the server judges them. */
import { createHmac } from "node:crypto";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { expect, test } from "vitest";
import { serveHttp } from "../../../test/support/http-server.ts";
import { openApp } from "../../../test/support/open-app.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createJwtUsers } from "../src/jwt-users.ts";

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

const audience = "sheaf";
const seconds = () => Math.floor(Date.now() / 1000);

/** A provider with keys by their ids, which tests may change; without keys it is out of order. */
async function startProvider() {
  const pair = await generateKeyPair("ES256");
  const keys = new Map<string, Pair>([["first", pair]]);
  const asked: string[] = [];
  const describe = { change: (description: object) => description, padding: "" };
  const issuer = await serveHttp((request, response) => {
    asked.push(request.url!);
    if (keys.size === 0) return void response.writeHead(503).end();
    if (request.url === "/.well-known/openid-configuration") {
      return void response.end(JSON.stringify(describe.change({ issuer, jwks_uri: `${issuer}/keys` })));
    }
    const list = [...keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: "ES256",
    }));
    return void Promise.all(list).then((all) => response.end(JSON.stringify({ keys: all, padding: describe.padding })));
  });
  const sign = (
    changes: JWTPayload = {},
    { privateKey }: Pair = keys.get("first")!,
    kid = "first",
  ): Promise<string> => {
    const claims = { iss: issuer, aud: audience, sub: "ada", exp: seconds() + 600, ...changes };
    return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(privateKey);
  };
  return { issuer, keys, asked, sign, describe, args: ["--jwt-issuer", issuer, "--jwt-audience", audience] };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

test(verifies(["S-270", "S-53"], "a signed token opens what belongs to its subject, and nothing else"), async () => {
  const { args, sign } = await startProvider();
  const server = await openApp({ args });
  const [ada, bob, local] = [await sign(), await sign({ sub: "auth0|b:b@x.org" }), await sign({ sub: "local" })];
  const { conversationId } = await server.as(ada).ask({ message: "hello" });
  await server.ask({ message: "the operator's" });
  const both = await sign({ aud: ["other", audience] });
  expect(await server.as(both).listConversations()).toMatchObject([{ id: conversationId }]);
  for (const other of [bob, local]) expect(await server.as(other).listConversations()).toEqual([]);
  expect((await server.as(bob).fetch(`/v1/conversations/${conversationId}`)).status).toBe(404);
  expect(await server.listConversations()).toHaveLength(1);
  expect(server.log()).not.toContain(ada.split(".")[2]);
});

test(
  verifies("S-270", "a token that is expired, forged, or for somebody else is refused, and the answer says why"),
  async () => {
    const { issuer, args, keys, sign } = await startProvider();
    const server = await openApp({ args });
    const { publicKey } = keys.get("first")!;
    const stranger = await generateKeyPair("ES256");
    const [head, , signature] = (await sign()).split(".");
    const claims = encode({ iss: issuer, aud: audience, sub: "ada", exp: seconds() + 600 });
    /** A signature with the public key as its secret. */
    const symmetric = async (header: object): Promise<string> => {
      const signed = `${encode(header)}.${claims}`;
      return `${signed}.${createHmac("sha256", await exportSPKI(publicKey))
        .update(signed)
        .digest("base64url")}`;
    };
    const rows: readonly (readonly [string, RegExp])[] = [
      [await sign({ exp: seconds() - 60 }), /expired.*sign in again/],
      [await sign({ nbf: seconds() + 600 }), /nbf.*it has \d+/],
      [await sign({ aud: "other" }), /for \\"sheaf\\".*aud.*it has \\"other\\"/],
      [await sign({ aud: [] }), /aud/],
      [await sign({ aud: undefined as never }), /missing required .*aud/],
      [await sign({ iss: "https://evil.example" }), /iss.*evil\.example/],
      [await sign({ iss: `${issuer}/` }), /iss/],
      [await sign({ exp: undefined as never }), /missing required .*exp/],
      [await sign({ exp: "9999999999" as never }), /exp/],
      [await sign({ sub: undefined as never }), /missing required .*sub/],
      [await sign({ sub: "" }), /1 to 255/],
      [await sign({ sub: "a\nb" }), /1 to 255/],
      [await sign({ sub: "x".repeat(256) }), /1 to 255/],
      [await sign({ sub: 7 as never }), /1 to 255/],
      [await sign({}, stranger), /signature verification failed/],
      [await sign({}, stranger, "unknown"), /no applicable key/],
      [`${head}.${encode({ iss: issuer, aud: audience, sub: "bob", exp: seconds() + 600 })}.${signature}`, /signature/],
      [`${encode({ alg: "none" })}.${claims}.`, /none of|not allowed|Invalid/],
      [`${encode({ alg: "none", kid: "first" })}.${claims}.${signature}`, /not allowed/],
      [await symmetric({ alg: "HS256" }), /not allowed/],
      [await symmetric({ alg: "HS256", kid: "first" }), /not allowed/],
      ["nothing-of-a-token-at-all", /not in the token file/],
    ];
    for (const [token, reason] of rows) {
      const answer = await server.as(token).fetch("/v1/conversations");
      expect([answer.status, await answer.text()], token).toEqual([401, expect.stringMatching(reason)]);
    }
  },
);

test(
  verifies("S-270", "the provider may change its keys; a removed one is not known for longer than 10 minutes"),
  async () => {
    const { issuer, keys, sign } = await startProvider();
    const users = createJwtUsers({ issuer, audience, cooldownMs: 0 }, Date.now, () => undefined);
    await expect(users.findVisitor(await sign())).resolves.toMatchObject({ owner: "user:ada" });
    const old = await sign();
    const next = await generateKeyPair("ES256");
    keys.set("second", next).delete("first");
    await expect(users.findVisitor(await sign({}, next, "second"))).resolves.toMatchObject({ owner: "user:ada" });
    await expect(users.findVisitor(old)).rejects.toMatchObject({ code: "AUTH_REJECTED" });
  },
);

test(verifies("S-270", "while the keys are missing nobody gets in, and the log says why, once"), async () => {
  const provider = await startProvider();
  const { args, keys, sign, asked } = provider;
  const [token, pair] = [await sign(), keys.get("first")!];
  keys.clear();
  const server = await openApp({ args });
  const answers = await Promise.all([1, 2, 3].map(() => server.as(token).fetch("/v1/conversations")));
  expect(answers.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual(
    Array.from({ length: 3 }, () => [503, "5"]),
  );
  expect(await answers[0]!.text()).toContain("cannot load the keys");
  expect(server.log().match(/"jwt_keys_unavailable"/g)).toHaveLength(1);
  expect(asked.length).toBeLessThan(5);
  // The operator's token works on.
  expect((await server.fetch("/v1/conversations")).status).toBe(200);
  keys.set("first", pair);
  await expect.poll(async () => (await server.as(token).fetch("/v1/conversations")).status).toBe(200);
});

test(verifies("S-270", "a provider that is out of order does not hurt users whose keys are known"), async () => {
  const { issuer, keys, sign } = await startProvider();
  const pair = keys.get("first")!;
  const users = createJwtUsers({ issuer, audience, cooldownMs: 0 }, Date.now, () => undefined);
  await users.prepare();
  keys.clear();
  await expect(users.findVisitor(await sign({}, pair, "unknown"))).rejects.toMatchObject({ code: "OVERLOADED" });
  await expect(users.findVisitor(await sign({}, pair))).resolves.toMatchObject({ owner: "user:ada" });
});

test(verifies("S-270", "keys that move to another address need no restart"), async () => {
  const { issuer, sign, describe } = await startProvider();
  const users = createJwtUsers({ issuer, audience, cooldownMs: 0 }, Date.now, () => undefined);
  describe.change = (description) => ({ ...description, jwks_uri: "http://127.0.0.1:1/keys" });
  await expect(users.findVisitor(await sign())).rejects.toMatchObject({ code: "OVERLOADED" });
  describe.change = (description) => description;
  await expect(users.findVisitor(await sign())).resolves.toMatchObject({ owner: "user:ada" });
});

test(verifies("S-270", "a description of another issuer, or with unsafe keys, opens nothing"), async () => {
  const { issuer, args, sign, describe } = await startProvider();
  const changes = [
    { issuer: `${issuer}/` },
    { jwks_uri: "http://keys.example/" },
    { jwks_uri: 7 },
    { jwks_uri: "file:///x" },
  ];
  for (const change of changes) {
    describe.change = (description) => ({ ...description, ...change });
    const server = await openApp({ args });
    expect((await server.as(await sign()).fetch("/v1/models")).status).toBe(503);
    expect(server.log()).toContain("does not describe");
  }
  describe.change = () => ({});
  const server = await openApp({ args: [...args, "--jwks", `${issuer}/keys`] });
  expect((await server.as(await sign()).fetch("/v1/models")).status).toBe(200);
});

test.each(["description", "keys"])(verifies("S-270", "%s above a limit of size open nothing"), async (part) => {
  const { args, sign, describe } = await startProvider();
  const padding = "x".repeat(2 * 1024 * 1024);
  if (part === "keys") describe.padding = padding;
  else describe.change = (description) => ({ ...description, padding });
  const server = await openApp({ args });
  expect((await server.as(await sign()).fetch("/v1/models")).status).toBe(503);
  expect(server.log()).toContain("sent more than 1048576 bytes");
});

test(verifies(["S-270", "S-51"], "the cookie of the page ends with the token"), async () => {
  const { args, sign } = await startProvider();
  const server = await openApp({ args });
  const signIn = async (token: string): Promise<string> => {
    const answer = await server.as(token).send("POST", "/v1/session", {});
    expect(answer.status).toBe(204);
    return answer.headers.get("set-cookie")!.split(";")[0]!;
  };
  const ask = async (Cookie: string) => (await server.request("/v1/models", { headers: { Cookie } })).status;
  expect(await ask(await signIn(await sign()))).toBe(200);
  // Its clock may be half a minute behind; the cookie's is the server's own.
  expect(await ask(await signIn(await sign({ exp: seconds() - 5 })))).toBe(401);
});

test.each([
  [["--jwt-issuer", "https://id.example"], /--jwt-issuer URL and --jwt-audience NAME/],
  [["--jwt-audience", "sheaf"], /--jwt-issuer URL and --jwt-audience NAME/],
  [["--jwks", "https://id.example/keys"], /--jwt-issuer URL and --jwt-audience NAME/],
  [["--jwt-issuer", "http://id.example", "--jwt-audience", "sheaf"], /--jwt-issuer "http:\/\/id\.example" is not safe/],
  [["--jwt-issuer", "id", "--jwt-audience", "sheaf"], /--jwt-issuer "id" is not safe/],
  [["--jwt-issuer", "https://id.example", "--jwt-audience", "sheaf", "--jwks", "http://x.example/"], /--jwks "http/],
])(verifies("S-270", "the flags %j are refused"), async (args, message) => {
  await expect(openApp({ args })).rejects.toMatchObject({ code: "USAGE", message: expect.stringMatching(message) });
});

test(verifies(["S-270", "S-56"], "an identity provider is enough to listen for other machines"), async () => {
  const { args, sign } = await startProvider();
  const server = await openApp({ args: ["--host", "0.0.0.0", ...args] });
  expect((await server.as(await sign()).fetch("/v1/models")).status).toBe(200);
  await expect(openApp({ args: ["--host", "0.0.0.0"] })).rejects.toMatchObject({ code: "USAGE" });
});
