import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { chooseProxy, findProxy } from "../../src/config/proxy.ts";

const ownHosts = "localhost,127.0.0.1,::1,[::1]";

test("the variables that other programs read, small letters first; this machine is reached without one", () => {
  expect(findProxy({})).toBeUndefined();
  expect(findProxy({ NO_PROXY: "a.example", HTTP_PROXY: "" })).toBeUndefined();
  expect(findProxy({ HTTPS_PROXY: "http://proxy.example:3128" })).toEqual({
    HTTPS_PROXY: "http://proxy.example:3128/",
    NO_PROXY: ownHosts,
  });
  expect(
    findProxy({
      https_proxy: "one.example:1",
      HTTPS_PROXY: "http://two.example",
      http_proxy: "https://u:p@h",
      no_proxy: "x",
    }),
  ).toEqual({ HTTPS_PROXY: "http://one.example:1/", HTTP_PROXY: "https://u:p@h/", NO_PROXY: `x,${ownHosts}` });
});

test.each(["socks5://CANARY:1", "http://", "ht tp://CANARY", "CANARY proxy"])(
  verifies(["S-04", "S-42"], "%j is no proxy, and is not shown"),
  (value) => {
    const find = () => findProxy({ HTTPS_PROXY: value });
    expect(find).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(find).toThrow(/^HTTPS_PROXY is not the address of a proxy: write http:\/\/HOST:PORT/);
  },
);

test.each(["http://CANARY:50%@h", "http://u:%zzCANARY@h", "http://%C3CANARY@h"])(
  verifies(["S-04", "S-42"], "%j cannot be decoded, is told once and for all, and is not shown"),
  (value) => {
    const find = () => findProxy({ HTTPS_PROXY: value });
    expect(find).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(find).toThrow(/^HTTPS_PROXY has a % in its name or password: write each % of them as %25$/);
    expect(findProxy({ HTTPS_PROXY: "http://u:50%25@h" })).toMatchObject({ HTTPS_PROXY: "http://u:50%25@h/" });
  },
);

test.each([
  ["http://a.example/", "http://plain/"],
  ["https://a.example/", "https://secure/"],
  ["https://left.example/", undefined],
  ["https://LEFT.example./", "https://secure/"],
  ["https://sub.left.example/", "https://secure/"],
  ["https://port.example:8443/", undefined],
  ["https://port.example/", "https://secure/"],
  ["https://standard.example/", undefined],
  ["http://standard.example/", "http://plain/"],
  ["https://a.dotted.example/", undefined],
  ["https://dotted.example/", "https://secure/"],
  ["https://evildotted.example/", "https://secure/"],
  ["https://a.b.starred.example/", undefined],
  ["http://localhost:1/", undefined],
  ["http://[::1]:1/", undefined],
])("the way to %s leads through %s", (address, expected) => {
  const proxy = findProxy({
    HTTP_PROXY: "http://plain",
    HTTPS_PROXY: "https://secure",
    NO_PROXY: "Left.example, port.example:8443 standard.example:443,.dotted.example,*.starred.example",
  });
  expect(chooseProxy(proxy, new URL(address))).toBe(expected);
});

test("without a proxy, and behind a star, every way is straight", () => {
  const url = new URL("https://a.example/");
  expect(chooseProxy(undefined, url)).toBeUndefined();
  expect(chooseProxy(findProxy({ HTTP_PROXY: "http://plain" }), url)).toBeUndefined();
  expect(chooseProxy(findProxy({ HTTPS_PROXY: "http://plain", NO_PROXY: "*" }), url)).toBeUndefined();
});
