/** Who calls: headers count only from trusted proxies (S-116 to S-119). */
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createClientFinder } from "../src/client-of.ts";

const findClient = createClientFinder(["127.0.0.1, 10.0.0.0/8", "2001:db8:1::/48"]);

const callFrom = (address: string, headers: Readonly<Record<string, string>>) =>
  findClient({ socket: { remoteAddress: address }, headers } as unknown as IncomingMessage);

const forwarded = {
  "x-forwarded-for": "192.0.2.1",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "chat.example.org",
};

test.each(["192.0.2.9", "11.0.0.1", "::ffff:192.0.2.9", "2001:db8:2::1", "::1"])(
  verifies(["S-116", "S-119"], "from %s, which nobody trusts, they change nothing"),
  (address) => {
    const headers = { ...forwarded, forwarded: "for=192.0.2.1;proto=https;host=chat.example.org" };
    expect(callFrom(address, headers)).toEqual({
      address: address.replace("::ffff:", ""),
      isSecure: false,
      forwardedHost: undefined,
    });
  },
);

test.each(["127.0.0.1", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8:1::7"])(
  verifies(["S-116", "S-118"], "from the proxy %s they count"),
  (address) => {
    expect(callFrom(address, forwarded)).toEqual({
      address: "192.0.2.1",
      isSecure: true,
      forwardedHost: "chat.example.org",
    });
  },
);

test(verifies("S-116", "without --trust-proxy nobody is trusted"), () => {
  const request = { socket: { remoteAddress: "127.0.0.1" }, headers: forwarded } as unknown as IncomingMessage;
  expect(createClientFinder([])(request)).toEqual({ address: "127.0.0.1", isSecure: false, forwardedHost: undefined });
});

describe("the list of addresses", () => {
  test.each([
    ["192.0.2.66, 192.0.2.1", "192.0.2.1"],
    ["192.0.2.66, 192.0.2.1, 10.0.0.3", "192.0.2.1"],
    ["10.0.0.3", "10.0.0.3"],
    ["192.0.2.66, unknown", "127.0.0.1"],
    ["192.0.2.66, , 10.0.0.3", "10.0.0.3"],
    ["[2001:db8::5]:4711", "2001:db8::5"],
    ["192.0.2.1:4711", "192.0.2.1"],
    ["x".repeat(5000), "127.0.0.1"],
    [`${"192.0.2.66,".repeat(5000)}192.0.2.1`, "192.0.2.1"],
  ])(verifies("S-117", "%s is the client %s"), (list, address) => {
    expect(callFrom("127.0.0.1", { "x-forwarded-for": list }).address).toBe(address);
  });
});

test.each([
  ["for=192.0.2.1;proto=https;host=chat.example.org", "192.0.2.1", true, "chat.example.org"],
  ['for=192.0.2.66, For="[2001:db8::5]:4711";Proto=https', "2001:db8::5", true, undefined],
  ["for=192.0.2.66;proto=https, for=_hidden;proto=http", "127.0.0.1", false, undefined],
  ["nonsense", "127.0.0.1", false, undefined],
])(verifies(["S-116", "S-117"], "Forwarded: %s"), (header, address, isSecure, forwardedHost) => {
  expect(callFrom("127.0.0.1", { forwarded: header })).toEqual({ address, isSecure, forwardedHost });
});

test(verifies("S-116", "a proxy that writes X-Forwarded-For may let a client's own Forwarded through"), () => {
  const headers = { ...forwarded, forwarded: "for=192.0.2.66;proto=http;host=evil.example" };
  expect(callFrom("127.0.0.1", headers)).toMatchObject({ address: "192.0.2.1", forwardedHost: "chat.example.org" });
});

test.each([
  ["proxy.example.org", "is not an address or a network"],
  ["10.0.0.0/33", "is not an address or a network"],
  ["", "is not an address or a network"],
  ["0.0.0.0/0", "would trust everybody"],
  ["::/0", "would trust everybody"],
  ["0.0.0.0/00", "would trust everybody"],
])(verifies("S-116", "--trust-proxy %j is refused: %s"), (word, message) => {
  expect(() => createClientFinder([word])).toThrow(`--trust-proxy "${word}" ${message}`);
});
